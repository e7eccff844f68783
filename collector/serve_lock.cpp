#include "serve_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <lotus/segment.hpp>
#include <string_view>
#include <thread>

#include "text.hpp"

namespace lotus::collector {
namespace {

constexpr int kTries = 10;
constexpr std::chrono::milliseconds kBetweenTries{5};

bool lock_within(int fd, int tries) {
  for (int i = 0; i < tries; ++i) {
    if (i > 0) std::this_thread::sleep_for(kBetweenTries);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
  }
  errno = EWOULDBLOCK;
  return false;
}

bool is_ours(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_nlink == 1;
}

void write_pid(int fd) {
  const std::string text = fmt::format("{}\n", getpid());
  // The pid is for people only; a full file system must not keep us from serving.
  if (ftruncate(fd, 0) != 0 || pwrite(fd, text.data(), text.size(), 0) < 0) errno = 0;
}

}  // namespace

ServeLock::Result ServeLock::take(const Directory& directory, Try patience, std::string& why) {
  const auto failed = [&](std::string_view text) {
    why = fmt::format("{}/{}: {}", printable(directory.path()), kCollectorLock, text);
    return Result::failed;
  };
  Fd file(
      openat(directory.fd(), kCollectorLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600));
  if (!file) return failed(reason(errno));
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || !is_ours(status))
    return failed("not a plain file of yours: remove it");
  if (!lock_within(file.get(), patience == Try::once ? 1 : kTries))
    return errno == EWOULDBLOCK ? Result::held : failed(reason(errno));
  device_ = status.st_dev;
  inode_ = status.st_ino;
  fd_ = std::move(file);
  if (!in_place(directory)) {
    fd_.reset();  // deleted between opening and locking; whoever made the new one serves
    return Result::held;
  }
  write_pid(fd_.get());
  return Result::taken;
}

bool ServeLock::in_place(const Directory& directory) const {
  struct stat status {};
  return fstatat(directory.fd(), kCollectorLock, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         status.st_dev == device_ && status.st_ino == inode_;
}

std::uint32_t ServeLock::holder(const Directory& directory) {
  const Fd file(openat(directory.fd(), kCollectorLock, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  char text[16];
  const ssize_t size = file ? read(file.get(), text, sizeof text) : 0;
  std::uint32_t pid = 0;
  if (size > 0) std::from_chars(text, text + size, pid);
  return pid;
}

}  // namespace lotus::collector
