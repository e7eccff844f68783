// Cells that several tables of the report have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "text/units.hpp"

namespace lotus::analyzer {

inline constexpr std::size_t kBarColumns = 10;

inline std::string percent_or_dash(std::optional<double> percent) {
  return percent ? human_percent(*percent) : "-";
}

inline std::optional<double> percent_of(double part, double whole) {
  return whole > 0 ? std::optional(100 * part / whole) : std::nullopt;
}

inline std::string bar_of(std::optional<double> percent) { return bar(percent.value_or(0), kBarColumns); }

}  // namespace lotus::analyzer
