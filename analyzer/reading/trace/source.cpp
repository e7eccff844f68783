#include "reading/trace/source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

[[noreturn]] void refuse(const std::string& path, int error) {
  const std::string name = escaped(path);
  if (error == ENOENT)
    throw Unusable(
        fmt::format("{}: there is no such file; name a trace, or run lotus-analyze where one lies", name));
  rlimit limit{};
  if (error == EMFILE && ::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    throw Unusable(
        fmt::format("{}: cannot be opened: each trace is a file that stays open, and no more than {} may be; "
                    "raise the limit (ulimit -n), or name fewer traces",
                    name, limit.rlim_cur));
  throw Unusable(fmt::format("{}: cannot be opened: {}; check the path and its permissions", name,
                             std::strerror(error)));
}

// The traces of all ranks stay open. False: the limit is as high as it may be.
bool raise_limit_of_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) return false;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// Standard input may be a pipe, and a trace is read here and there: a copy that has no name. It is kept, as
// several parts of a command may open "-".
int standard_input() {
  static std::FILE* copy = nullptr;
  if (copy == nullptr) {
    copy = std::tmpfile();
    if (copy == nullptr) return -1;
    std::vector<char> block(1 << 16);
    for (;;) {
      const ssize_t got = ::read(STDIN_FILENO, block.data(), block.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return -1;
      if (got == 0) break;
      if (std::fwrite(block.data(), 1, static_cast<std::size_t>(got), copy) != static_cast<std::size_t>(got))
        return -1;
    }
    if (std::fflush(copy) != 0) return -1;
  }
  return ::fcntl(::fileno(copy), F_DUPFD_CLOEXEC, 0);
}

}  // namespace

Source::Source(std::string path) : path_(std::move(path)) {
  // O_NONBLOCK: opening a FIFO must not wait for its writer.
  const auto open_it = [&] {
    return path_ == "-" ? standard_input() : ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  };
  descriptor_ = open_it();
  if (descriptor_ < 0 && errno == EMFILE && raise_limit_of_files()) descriptor_ = open_it();
  if (descriptor_ < 0) refuse(path_, errno);
  struct stat status {};
  const int failed = ::fstat(descriptor_, &status) != 0 ? errno : 0;
  if (failed != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    if (failed != 0) refuse(path_, failed);
    throw Unusable(fmt::format("{}: is no regular file; name a trace file (*.lotus)", escaped(path_)));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

Source::Source(Source&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

Source::~Source() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t Source::read(std::uint64_t offset, void* to, std::size_t bytes) const {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(descriptor_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace lotus::analyzer
