// Columns of numbers, as they travel inside the page: little-endian, base64.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lotus::analyzer {

std::string base64(const std::string& bytes);

// Values as unsigned integers of `Width` bytes. Values out of range are clamped; the greatest integer is
// reserved for "unknown".
template <unsigned Width>
class Column {
 public:
  static constexpr std::uint64_t kMissing = (std::uint64_t{1} << (8 * Width)) - 1;

  void add(std::uint64_t value) { put(value < kMissing ? value : kMissing - 1); }
  void add_missing() { put(kMissing); }
  std::string text() const { return base64(bytes_); }

 private:
  void put(std::uint64_t value) {
    for (unsigned i = 0; i < Width; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
  }
  std::string bytes_;
};

// Numbers of 32-bit floating point.
std::string float_column(const std::vector<double>& values);

}  // namespace lotus::analyzer
