// How often the rings of traced processes are visited.
#pragma once

#include <algorithm>
#include <cstdint>

#include "clock.hpp"

namespace lotus::collector {

// A process whose ring fills faster than expected wakes the collector earlier.
inline constexpr std::uint64_t kLongestPause = 250 * kMillisecond;

// How full the rings are, as shares of their size; each value is that of the ring where it is largest.
struct Filling {
  double left = 0;         // still in the ring after the visit
  double grown = 0;        // added since the visit before
  double definitions = 0;  // added to the definition ring since the visit before

  void take_most(const Filling& other) {
    left = std::max(left, other.left);
    grown = std::max(grown, other.grown);
    definitions = std::max(definitions, other.definitions);
  }
};

class VisitPace {
 public:
  // When to come again, in ns from now. `elapsed_ns`: since the visit before.
  std::uint64_t pause_after(const Filling& filling, std::uint64_t elapsed_ns);

  // A process began since the visit before: many definitions will follow.
  void expect_definitions() { begun_ = true; }

  // The rings fill so slowly that the next visit may come late, and no process begins.
  bool calm() const { return calm_; }

 private:
  double fastest_ = 0;            // growth of a ring lately, in shares of its size per ns
  bool begun_ = false;            // a process, since the last visit
  std::uint64_t settled_ns_ = 0;  // time without a new definition
  bool calm_ = false;
};

}  // namespace lotus::collector
