// The time that fetches wait for a core: runnable, but not running.
#pragma once

#include <algorithm>
#include <optional>

namespace lotus::analyzer {

// From this share of the time of fetches on, waiting for a core is mentioned.
inline constexpr double kTellsOfCoresPercent = 10;

// From this share on the cores are not enough for all that want one: more threads get no more of them, and
// what a thread takes says little of its work.
inline constexpr double kCoresShortPercent = 25;

// Sums over the fetches whose wait for a core is known, in ns.
struct CoreWait {
  double waited = 0, wall = 0;

  void add(double core_wait, double fetch) {
    waited += core_wait;
    wall += fetch;
  }
  // Percent of their time. None: it is known of no fetch.
  std::optional<double> percent() const {
    return wall > 0 ? std::optional(100 * std::min(1.0, waited / wall)) : std::nullopt;
  }
};

}  // namespace lotus::analyzer
