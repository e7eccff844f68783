// The model of PyTorch's DataLoader; MODEL.md describes it.
#pragma once

#include <vector>

#include "answers/replay/outcome.hpp"
#include "answers/replay/plan.hpp"

namespace lotus::analyzer {

// One epoch by itself, unscaled. `order`: nullptr is as recorded.
ReplayOutcome simulate(const Plan& plan, const PlannedEpoch& epoch, const Order* order = nullptr);

// The whole run. `orders`: none, or one per epoch.
ReplayOutcome simulate(const Plan& plan, const std::vector<Order>& orders = {});

}  // namespace lotus::analyzer
