// Ticks to nanoseconds of the realtime clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <lotus/clock.hpp>
#include <vector>

namespace lotus::analyzer {

class ClockMap {
 public:
  ClockMap() = default;
  ClockMap(ClockSource source, std::uint32_t tick_shift);

  // Takes a calibration pair into account; pairs that were never filled in (zero) are ignored.
  void add(const ClockPair& pair);
  // Fixes the rate: from the earliest and the latest pair, unless the clock was set in between.
  void settle();

  // Realtime ns since the epoch.
  std::int64_t ns(std::uint64_t ticks) const {
    return base_ns_ + scaled(static_cast<double>(static_cast<std::int64_t>(ticks - earliest_.ticks)));
  }
  // ns from one time to a later one; 0 if it is not later. The difference of the rounded times, so that spans
  // that touch in ticks touch in ns.
  std::int64_t between(std::uint64_t start, std::uint64_t end) const {
    return end > start ? std::max<std::int64_t>(0, ns(end) - ns(start)) : 0;
  }
  // ns of a number of ticks.
  std::int64_t duration_ns(std::uint64_t ticks) const { return scaled(static_cast<double>(ticks)); }

  double ns_per_tick() const { return ns_per_tick_; }
  // ns between the pairs that determine the rate; 0: the rate is the clock's nominal one.
  std::int64_t baseline_ns() const { return baseline_ns_; }
  // False: there are no usable pairs for a TSC, and its rate is a guess.
  bool calibrated() const { return calibrated_; }
  ClockSource source() const { return source_; }

 private:
  double usual_rate();
  std::int64_t scaled(double ticks) const {
    const double ns = ticks * ns_per_tick_;
    constexpr double kMost = 4e18;  // a damaged time must not overflow
    if (ns > kMost) return static_cast<std::int64_t>(kMost);
    if (ns < -kMost) return static_cast<std::int64_t>(-kMost);
    return static_cast<std::int64_t>(ns + (ns < 0 ? -0.5 : 0.5));
  }

  ClockSource source_ = ClockSource::monotonic;
  double nominal_ns_ = 1;
  bool any_ = false;
  ClockPair earliest_{}, latest_{};
  std::vector<ClockPair> pairs_;  // until settle()
  double ns_per_tick_ = 1;
  std::int64_t base_ns_ = 0;
  std::int64_t baseline_ns_ = 0;
  bool calibrated_ = false;
};

}  // namespace lotus::analyzer
