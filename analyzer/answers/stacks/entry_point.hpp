// Number, time and bytes of the calls of a native entry point.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lotus::analyzer {

struct EntryPoint {
  std::uint64_t calls = 0;
  double ns = 0;
  double bytes = 0;
  bool estimated = false;  // counted in some batches only, and scaled to all

  void add(const EntryPoint& other) {
    calls += other.calls;
    ns += other.ns;
    bytes += other.bytes;
    estimated = estimated || other.estimated;
  }
  // Scales counts from some calls of an operation to all: `of_calls` is all calls by counted calls, `of_time`
  // all time by time of the counted calls. Time has a factor of its own, since the first batch is always
  // counted and is slow.
  EntryPoint scaled(double of_calls, double of_time) const {
    constexpr double kMost = 9e18;  // more is damage
    const double all = std::min(static_cast<double>(calls) * of_calls, kMost);
    return {static_cast<std::uint64_t>(std::llround(all)), ns * of_time, bytes * of_calls, true};
  }
};

}  // namespace lotus::analyzer
