// Files that this library reads for itself, past libc: the interposed functions count the program's files.
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <lotus/segment.hpp>
#include <string_view>

namespace lotus {

// Of paths that are handed to the collector, their NUL included.
inline constexpr std::size_t kPathBytes = sizeof(SegmentHeader::output);

class RawFile {
 public:
  explicit RawFile(const char* path)
      : descriptor_(static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC))) {}
  ~RawFile() {
    if (descriptor_ >= 0) syscall(SYS_close, descriptor_);
  }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  explicit operator bool() const { return descriptor_ >= 0; }
  // The next bytes, or those at an offset; 0 at the end, and where there is nothing to read.
  std::size_t read(void* to, std::size_t bytes) const {
    return size_of(syscall(SYS_read, descriptor_, to, bytes));
  }
  std::size_t read_at(std::uint64_t offset, void* to, std::size_t bytes) const {
    return size_of(syscall(SYS_pread64, descriptor_, to, bytes, offset));
  }

 private:
  static std::size_t size_of(long got) { return got > 0 ? static_cast<std::size_t>(got) : 0; }

  int descriptor_;
};

// Reads a small file whole; returns the bytes read (0 on any failure), NUL-terminates.
std::size_t read_file(const char* path, char* buffer, std::size_t size);

// What comes after the last slash.
std::string_view base_name(std::string_view path);

}  // namespace lotus
