// Protocol buffers, written: fields appended to a string. Reading them is left to the viewers.
#pragma once

#include <cstdint>
#include <cstring>
#include <lotus/codec.hpp>
#include <string>
#include <string_view>

namespace lotus::analyzer {

class ProtoWriter {
 public:
  // Appends to `out`, which outlives the writer.
  explicit ProtoWriter(std::string& out) : out_(out) {}

  // Types int32 and int64 (negative: cast), uint32, uint64, bool and enum.
  void number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3 | kVarint);
    varint(value);
  }
  void fixed64(std::uint32_t field, std::uint64_t value) {
    varint(field << 3 | kFixed64);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);  // little-endian, as this program's platform is
    out_.append(bytes, sizeof bytes);
  }
  void real(std::uint32_t field, double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    fixed64(field, bits);
  }
  void text(std::uint32_t field, std::string_view value) {
    varint(field << 3 | kBytes);
    varint(value.size());
    out_ += value;
  }
  // A message inside the message; `fill` writes its fields.
  template <class Fill>
  void message(std::uint32_t field, Fill fill) {
    varint(field << 3 | kBytes);
    const std::size_t start = out_.size();
    fill();
    std::uint8_t length[kMaxVarint];
    const std::uint8_t* end = put_varint(length, out_.size() - start);
    out_.insert(start, reinterpret_cast<const char*>(length), static_cast<std::size_t>(end - length));
  }

 private:
  static constexpr std::uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2;

  void varint(std::uint64_t value) {
    std::uint8_t bytes[kMaxVarint];
    const std::uint8_t* end = put_varint(bytes, value);
    out_.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(end - bytes));
  }

  std::string& out_;
};

}  // namespace lotus::analyzer
