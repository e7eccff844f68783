// Shared by the fuzz targets. Each target is LLVMFuzzerTestOneInput() in a file of its own; it runs under
// libFuzzer (tests/fuzz/run), and in every other build under a small driver (driver.cpp) that mutates its
// seeds at random.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace lotus::fuzz {

using Bytes = std::vector<std::uint8_t>;

// Valid inputs, made by code; every target has some.
std::vector<Bytes> seeds();

// Aborts the program if a promise is broken, so that the fuzzer sees a crash.
inline void promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// A file in memory that has a path.
class MemoryFile {
 public:
  explicit MemoryFile(const Bytes& bytes = {}) : fd_(memfd_create("lotus-fuzz", MFD_CLOEXEC)) {
    if (fd_ < 0 || pwrite(fd_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      std::abort();
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(fd_); }

  int fd() const { return fd_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

template <class T>
T read_at(const Bytes& bytes, std::size_t at) {
  T value{};
  if (at <= bytes.size() && bytes.size() - at >= sizeof value)
    std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void write_at(Bytes& bytes, std::size_t at, const T& value) {
  if (at <= bytes.size() && bytes.size() - at >= sizeof value)
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

}  // namespace lotus::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
