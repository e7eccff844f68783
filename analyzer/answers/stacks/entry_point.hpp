// What calls of a native entry point took and moved.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace lotus::analyzer {

struct EntryPoint {
  std::uint64_t calls = 0;
  double ns = 0;
  double bytes = 0;
  bool estimated = false;  // counted in a part of the batches only, and scaled to all

  void add(const EntryPoint& other) {
    calls += other.calls;
    ns += other.ns;
    bytes += other.bytes;
    estimated = estimated || other.estimated;
  }
  // What was counted in one of `of_calls` calls of an operation, which took one of `of_time` parts of its
  // time, taken for all of them: the same share of the time, since a first batch, which is counted, is a slow
  // one.
  EntryPoint scaled(double of_calls, double of_time) const {
    constexpr double kMost = 9e18;  // more is damage
    const double all = std::min(static_cast<double>(calls) * of_calls, kMost);
    return {static_cast<std::uint64_t>(std::llround(all)), ns * of_time, bytes * of_calls, true};
  }
};

}  // namespace lotus::analyzer
