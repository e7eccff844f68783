// What it costs to record steps and regions. Our own part is measured as it goes; what PyTorch takes to
// call observers, and CPython beside an evaluator, is priced.
#pragma once

#include <cstdint>

#include "operators/lane_records.hpp"

namespace lotus {

// Of what was recorded, in ticks.
std::uint64_t recording_cost(const LaneUse& use);

// Definition `lane_cost`, by what the regions took so far; `use`: of one more. Told now and then.
void tell_lane_costs(const LaneUse& use);

}  // namespace lotus
