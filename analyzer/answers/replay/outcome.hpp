// What is asked of a replay besides its plan, and what it gives.
#pragma once

#include <cstdint>
#include <vector>

#include "answers/replay/recording.hpp"

namespace lotus::analyzer {

// Which batch and which step of a planned epoch comes when: positions, for a resampled replay.
struct Order {
  std::vector<std::uint32_t> batches, steps;
};

struct ReplayOutcome {
  Achieved achieved;
  double fetch = 0, step = 0;  // mean length
  double first = 0;            // from the call of __iter__ to the first batch, of all epochs
  double first_wait = 0;       // of it: inside __next__
};

}  // namespace lotus::analyzer
