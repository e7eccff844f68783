#include "serve_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <lotus/events.hpp>
#include <lotus/segment.hpp>
#include <lotus/trace.hpp>
#include <string_view>
#include <thread>

#include "text.hpp"

namespace lotus::collector {
namespace {

constexpr int kLockTries = 10;
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

constexpr std::size_t kMaxPublished = std::size_t{1} << 22;

// The line before a published text: its size and hash, by which readers recognise a half-written text.
std::string mark_of(std::string_view text) {
  return fmt::format("{} {:08x}\n", text.size(),
                     fnv1a(reinterpret_cast<const unsigned char*>(text.data()), text.size()));
}

std::string read_all(int fd) {
  std::string text;
  char block[1 << 14];
  while (text.size() < kMaxPublished) {
    const ssize_t got = pread(fd, block, sizeof block, static_cast<off_t>(text.size()));
    if (got <= 0) break;
    text.append(block, static_cast<std::size_t>(got));
  }
  return text;
}

// The text behind pid and mark, if the mark matches it.
std::string whole_text(std::string_view file) {
  for (int line = 0; line < 2; ++line) {
    const std::size_t end = file.find('\n');
    if (end == std::string_view::npos) return {};
    const std::string_view text = file.substr(end + 1);
    if (line == 1 && file.substr(0, end + 1) != mark_of(text)) return {};
    file = text;
  }
  return std::string(file);
}

std::string first_line() { return fmt::format("{} {} {:016x}\n", getpid(), kSegmentVersion, kSchemaHash); }

void write_first_line(int fd) {
  const std::string text = first_line();
  // Nobody depends on it: a full file system must not keep the collector from serving.
  [[maybe_unused]] const bool written = ftruncate(fd, 0) == 0 && pwrite(fd, text.data(), text.size(), 0) >= 0;
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
  if (!lock_within(file.get(), patience == Try::once ? 1 : kLockTries))
    return errno == EWOULDBLOCK ? Result::held : failed(reason(errno));
  device_ = status.st_dev;
  inode_ = status.st_ino;
  fd_ = std::move(file);
  if (!in_place(directory)) {
    fd_.reset();  // deleted between opening and locking: the creator of the new file serves
    return Result::held;
  }
  write_first_line(fd_.get());
  return Result::taken;
}

bool ServeLock::held_by_another(const Directory& directory) {
  const Fd file(openat(directory.fd(), kCollectorLock, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  for (int i = 0; file && i < kLockTries; ++i) {
    if (i > 0) std::this_thread::sleep_for(kBetweenTries);
    // A shared lock, like that of traced processes: those who only look do not disturb each other.
    if (flock(file.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return false;
  }
  return static_cast<bool>(file);
}

void ServeLock::publish(std::string_view text) const {
  const std::string all = first_line() + mark_of(text) + std::string(text);
  if (!fd_ || pwrite(fd_.get(), all.data(), all.size(), 0) < 0) return;
  // If that fails, the mark does not match the text.
  [[maybe_unused]] const int failed = ftruncate(fd_.get(), static_cast<off_t>(all.size()));
}

std::string ServeLock::published(const Directory& directory) {
  const Fd file(openat(directory.fd(), kCollectorLock, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  for (int i = 0; file && i < kLockTries; ++i) {
    if (i > 0) std::this_thread::sleep_for(kBetweenTries);
    if (std::string text = whole_text(read_all(file.get())); !text.empty()) return text;
  }
  return {};
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
