#include <algorithm>

#include "answers/replay/recording.hpp"

namespace lotus::analyzer {

// Measured: of independent workers, 25 to 45 % of the ends follow the one before closely; of workers with one
// lock for all, 0 to 5 %. Fetches that compute, or wait for a core, take turns on the cores.
bool taking_turns(const Recording& recording) {
  constexpr std::uint64_t kFewestGaps = 50;
  constexpr double kMostClose = 0.1;
  constexpr double kLeastIdle = 0.4;  // of the fetches' time, neither computing nor waiting for a core
  const TakingTurns& turns = recording.turns;
  if (turns.gaps < kFewestGaps ||
      static_cast<double>(turns.close) > kMostClose * static_cast<double>(turns.gaps))
    return false;
  double wall = 0;
  double idle = 0;
  double all = 0;
  for (const auto& epoch : recording.epochs)
    for (const auto& batch : epoch.batches) {
      all += batch.fetch;
      if (!batch.core_wait) continue;  // it may all be waiting for a core
      wall += batch.fetch;
      idle += std::max(0.0, batch.fetch - batch.fetch_cpu - *batch.core_wait);
    }
  constexpr double kLeastKnown = 0.15;  // waits for a core are known of a quarter with a SQLite lock
  return wall >= kLeastKnown * all && idle >= kLeastIdle * wall;
}

}  // namespace lotus::analyzer
