// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <span>
#include <utility>

namespace lotus::collector {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}  // takes ownership; negative: none
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  void reset(int fd = -1) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// Writes all bytes at `position` of a file. False with errno set: some are not there.
inline bool write_at(int fd, std::span<const std::uint8_t> bytes, std::uint64_t position) {
  while (!bytes.empty()) {
    const ssize_t size = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (size < 0 && errno == EINTR) continue;
    if (size == 0) errno = ENOSPC;
    if (size <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(size));
    position += static_cast<std::uint64_t>(size);
  }
  return true;
}

}  // namespace lotus::collector
