// How often the rings of traced processes are visited.
#pragma once

#include <algorithm>
#include <cstdint>

#include "clock.hpp"

namespace lotus::collector {

// A process whose ring fills faster than expected calls before.
inline constexpr std::uint64_t kLongestPause = 250 * kMillisecond;

// Of the ring for which it is most, as shares of its size.
struct Filling {
  double left = 0;         // what waits in it after the visit
  double grown = 0;        // what came since the visit before
  double definitions = 0;  // what came into the ring of definitions

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

  // A process began since the visit before: it is about to define what it runs.
  void expect_definitions() { begun_ = true; }

  // The rings fill so slowly that the next visit may come late, and no process begins.
  bool calm() const { return calm_; }

 private:
  double fastest_ = 0;            // that a ring grew lately, in shares of it a ns
  bool begun_ = false;            // a process, since the last visit
  std::uint64_t settled_ns_ = 0;  // for so long no definition came
  bool calm_ = false;
};

}  // namespace lotus::collector
