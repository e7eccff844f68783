// The model of PyTorch's DataLoader; MODEL.md says in words what it does.
#pragma once

#include <cstdint>
#include <vector>

#include "replay/plan.hpp"

namespace lotus::analyzer {

// Which batch and which step of a planned epoch comes when: positions, for a resampled replay.
struct Order {
  std::vector<std::uint32_t> batches, steps;
};

struct Outcome {
  Achieved achieved;
  double fetch = 0, step = 0;  // mean length
  double first = 0;            // from the call of __iter__ to the first batch, of all epochs
  double first_wait = 0;       // of it: inside __next__
};

// One epoch by itself, unscaled. `order`: nullptr is as recorded.
Outcome simulate(const Plan& plan, const PlannedEpoch& epoch, const Order* order = nullptr);

// The whole run. `orders`: none, or one per epoch.
Outcome simulate(const Plan& plan, const std::vector<Order>& orders = {});

}  // namespace lotus::analyzer
