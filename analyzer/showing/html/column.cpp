#include "showing/html/column.hpp"

#include <bit>

namespace lotus::analyzer {

std::string base64(const std::string& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0;
  };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (unsigned k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kDigits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string float_column(const std::vector<double>& values) {
  std::string bytes;
  bytes.reserve(4 * values.size());
  for (const double value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    for (unsigned i = 0; i < 4; ++i) bytes += static_cast<char>(bits >> (8 * i) & 0xff);
  }
  return base64(bytes);
}

}  // namespace lotus::analyzer
