// The collector's own clocks.
#pragma once

#include <cstdint>
#include <lotus/clock.hpp>

namespace lotus::collector {

inline constexpr std::uint64_t kMillisecond = 1'000'000;  // in ns
inline constexpr std::uint64_t kSecond = 1'000'000'000;   // in ns

// CLOCK_MONOTONIC in ns.
std::uint64_t monotonic_ns();

// A calibration pair: ticks of `source` (see lotus/clock.hpp) read between two reads of the realtime
// clock. The tightest of several tries, so that a preemption in between does not spoil it.
ClockPair read_clock_pair(ClockSource source, std::uint32_t tick_shift);

}  // namespace lotus::collector
