#include "clock.hpp"

#include <ctime>

namespace lotus::collector {
namespace {

constexpr int kReadTries = 8;

std::uint64_t read_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t read_cycles(ClockSource source) {
  if (kHasCounter && source == ClockSource::tsc) return read_counter();
  return read_ns(CLOCK_MONOTONIC);
}

}  // namespace

std::uint64_t monotonic_ns() { return read_ns(CLOCK_MONOTONIC); }

ClockPair read_clock_pair(ClockSource source, std::uint32_t tick_shift) {
  ClockPair best;
  std::uint64_t tightest = UINT64_MAX;
  for (int i = 0; i < kReadTries; ++i) {
    const std::uint64_t before = read_ns(CLOCK_REALTIME);
    const std::uint64_t cycles = read_cycles(source);
    const std::uint64_t width = read_ns(CLOCK_REALTIME) - before;
    if (width >= tightest) continue;
    tightest = width;
    best = {cycles >> tick_shift, before + width / 2};
  }
  return best;
}

}  // namespace lotus::collector
