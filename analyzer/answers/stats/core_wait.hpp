// How long what makes batches could have run and had no core.
#pragma once

#include <algorithm>
#include <optional>

namespace lotus::analyzer {

// Of the time of fetches: waiting for a core is worth a word from here on.
inline constexpr double kTellsOfCoresPercent = 10;

// Sums over the fetches of which it is known how long they waited for a core, in ns.
struct CoreWait {
  double waited = 0, wall = 0;

  void add(double core_wait, double fetch) {
    waited += core_wait;
    wall += fetch;
  }
  // Of their time. None: it is known of none.
  std::optional<double> percent() const {
    return wall > 0 ? std::optional(100 * std::min(1.0, waited / wall)) : std::nullopt;
  }
};

}  // namespace lotus::analyzer
