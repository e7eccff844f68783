// Classes of calls that took about as long: two for each power of two.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace lotus::analyzer {

inline constexpr std::size_t kDurationClasses = 128;

constexpr std::size_t duration_class(std::uint64_t ns) {
  if (ns < 2) return 0;
  const auto power = static_cast<unsigned>(std::bit_width(ns)) - 1;
  return 2 * power + (ns >> (power - 1) & 1);
}

}  // namespace lotus::analyzer
