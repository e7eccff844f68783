// A trace file as bytes. Read with pread, never mapped: the file may grow or shrink meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lotus::analyzer {

class Source {
 public:
  // Opens `path` for reading; "-" is standard input. Throws Unusable when it is missing, unreadable or no
  // regular file.
  explicit Source(std::string path);
  Source(Source&& other) noexcept;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  Source& operator=(Source&&) = delete;
  ~Source();

  const std::string& path() const { return path_; }
  // Bytes when the file was opened. What is appended later is not read.
  std::uint64_t size() const { return size_; }

  // Copies up to `bytes` bytes at `offset`; returns how many there were (fewer: the file ended there).
  std::size_t read(std::uint64_t offset, void* to, std::size_t bytes) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace lotus::analyzer
