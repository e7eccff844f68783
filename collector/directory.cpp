#include "directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>

#include "segment_check.hpp"
#include "text.hpp"

namespace lotus::collector {
namespace {

constexpr mode_t kPrivate = 0700;

std::string what_is_wrong(const struct stat& status, const std::string& path) {
  if (status.st_uid != geteuid())
    return fmt::format("it belongs to user {}, not to you: set LOTUS_DIR to a directory of yours",
                       status.st_uid);
  if ((status.st_mode & ALLPERMS) != kPrivate)
    return fmt::format("its mode is {:04o}, it must be 0700: chmod 0700 {}", status.st_mode & ALLPERMS,
                       printable(path));
  return {};
}

}  // namespace

Directory::Result Directory::open(const std::string& path, Create create, std::string& why) {
  path_ = path;
  made_ = create == Create::yes && mkdir(path.c_str(), kPrivate) == 0;
  if (create == Create::yes && !made_ && errno != EEXIST) {
    why = fmt::format("{}: cannot be made: {}", printable(path), reason(errno));
    return errno == ENOENT ? Result::absent : Result::refused;
  }
  fd_.reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd_) {
    if (errno == ENOENT) return Result::absent;
    const bool link = errno == ELOOP || errno == ENOTDIR;
    why = fmt::format("{}: {}", printable(path),
                      link ? "not a real directory (perhaps a symlink)" : reason(errno));
    return Result::refused;
  }
  struct stat status {};
  fstat(fd_.get(), &status);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  const std::string wrong = what_is_wrong(status, path);
  if (wrong.empty()) return Result::opened;
  why = fmt::format("{}: {}", printable(path), wrong);
  fd_.reset();
  return Result::refused;
}

bool Directory::in_place() const {
  struct stat status {};
  return lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

bool Directory::list_segments(std::vector<std::string>& names) const {
  const int copy = openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return false;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(fdopendir(copy), closedir);
  if (!stream) {
    close(copy);
    return false;
  }
  while (const dirent* entry = readdir(stream.get()))
    if (parse_segment_name(entry->d_name)) names.emplace_back(entry->d_name);
  return true;
}

}  // namespace lotus::collector
