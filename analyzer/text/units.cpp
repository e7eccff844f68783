#include "text/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace lotus::analyzer {
namespace {

struct Unit {
  double size;
  const char* name;
};

std::string three_digits(double value) {
  const double size = std::abs(value);
  if (size >= 99.95 || value == 0) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

}  // namespace

std::string human_time(double ns) {
  static constexpr Unit kUnits[] = {{3.6e12, "h"}, {6e10, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}};
  for (const auto& unit : kUnits) {
    // Seconds are used up to two minutes, minutes up to two hours.
    const double from = unit.size >= 6e10 ? 2 * unit.size : unit.size;
    if (std::abs(ns) >= from * 0.9995) return fmt::format("{} {}", three_digits(ns / unit.size), unit.name);
  }
  return fmt::format("{:.0f} ns", ns);
}

std::string human_bytes(double bytes) {
  static constexpr Unit kUnits[] = {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}};
  for (const auto& unit : kUnits)
    if (bytes >= unit.size) return fmt::format("{} {}", three_digits(bytes / unit.size), unit.name);
  return fmt::format("{:.0f} B", bytes);
}

std::string human_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string human_percent(double percent) {
  const double size = std::abs(percent);
  if (size != 0 && size < 0.005) return "<0.01 %";
  if (size != 0 && size < 0.095) return fmt::format("{:.2f} %", percent);
  if (size >= 99.95) return fmt::format("{:.0f} %", percent);
  return fmt::format("{:.1f} %", percent);
}

std::string human_rate(double rate) {
  return rate < 1000 ? three_digits(rate) : human_count(static_cast<std::uint64_t>(std::llround(rate)));
}

std::string bar(double percent, std::size_t columns) {
  static constexpr const char* kParts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double eighths = std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(columns) * 8;
  const auto whole = static_cast<std::size_t>(std::lround(eighths));
  std::string out;
  for (std::size_t i = 0; i < whole / 8; ++i) out += "█";
  return out + kParts[whole % 8];
}

}  // namespace lotus::analyzer
