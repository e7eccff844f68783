// Reads DWARF's numbers from bytes that may be damaged: behind the end everything is 0, and whole() is false.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace lotus::collector {

class DwarfReader {
 public:
  explicit DwarfReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool whole() const { return whole_; }
  bool at_end() const { return bytes_.empty(); }
  std::span<const std::uint8_t> rest() const { return bytes_; }

  template <class Number>
  Number fixed() {
    Number number{};
    const auto bytes = block(sizeof number);
    if (whole_) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }

  // LEB128; bits beyond 64 are dropped.
  std::uint64_t unsigned_number() {
    unsigned bits = 0;
    return number(bits);
  }
  std::int64_t signed_number() {
    unsigned bits = 0;
    std::uint64_t value = number(bits);
    if (bits < 64 && bits > 0 && (value >> (bits - 1) & 1) != 0) value |= ~std::uint64_t{0} << bits;
    return static_cast<std::int64_t>(value);
  }

  std::span<const std::uint8_t> block(std::uint64_t size) {
    if (size > bytes_.size()) {
      whole_ = false;
      bytes_ = {};
      return {};
    }
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

  // Up to a zero byte, which is read, too.
  std::string_view text() {
    std::size_t size = 0;
    while (size < bytes_.size() && bytes_[size] != 0) ++size;
    const auto taken = block(size);
    fixed<std::uint8_t>();
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

 private:
  std::uint64_t number(unsigned& bits) {
    std::uint64_t value = 0;
    std::uint8_t byte = 0x80;
    while ((byte & 0x80) != 0 && whole_) {
      byte = fixed<std::uint8_t>();
      if (bits < 64) value |= std::uint64_t{byte & 0x7fu} << bits;
      bits += 7;
    }
    return value;
  }

  std::span<const std::uint8_t> bytes_;
  bool whole_ = true;
};

}  // namespace lotus::collector
