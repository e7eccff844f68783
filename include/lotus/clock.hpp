// Time in a trace. A tick is 2^shift cycles of the invariant TSC, or 2^shift ns of CLOCK_MONOTONIC where
// the TSC is not invariant. Calibration pairs tie ticks to the realtime clock; the first and the last
// pair of a session give the rate.
#pragma once

#include <cstdint>

namespace lotus {

enum class ClockSource : std::uint32_t { tsc = 0, monotonic = 1 };

inline constexpr std::uint32_t kTickShift = 4;  // 5 to 8 ns with a TSC of 2 to 3 GHz, 16 ns otherwise

struct ClockPair {
  std::uint64_t ticks = 0;
  std::uint64_t realtime_ns = 0;  // CLOCK_REALTIME
};
static_assert(sizeof(ClockPair) == 16);

}  // namespace lotus
