// The order of a replay's batches and steps, and the outcome of a replay.
#pragma once

#include <cstdint>
#include <vector>

#include "answers/replay/recording.hpp"

namespace lotus::analyzer {

// For a resampled replay: positions in a planned epoch of the batches and steps, in the order of the replay.
struct Order {
  std::vector<std::uint32_t> batches, steps;
};

struct ReplayOutcome {
  Achieved achieved;
  double fetch = 0, step = 0;  // mean length
  double settled = 0;     // … of the fetches that began when all workers had begun their first; 0: none
  double lock_wait = 0;   // mean of a fetch
  double first = 0;       // from the call of __iter__ to the first batch, of all epochs
  double first_wait = 0;  // of it: inside __next__
};

}  // namespace lotus::analyzer
