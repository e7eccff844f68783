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
  // What was counted in one of `factor` calls of an operation, taken for all of them.
  EntryPoint scaled(double factor) const {
    constexpr double kMost = 9e18;  // more is damage
    const double all = std::min(static_cast<double>(calls) * factor, kMost);
    return {static_cast<std::uint64_t>(std::llround(all)), ns * factor, bytes * factor, true};
  }
};

}  // namespace lotus::analyzer
