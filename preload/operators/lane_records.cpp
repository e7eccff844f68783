#include "operators/lane_records.hpp"

namespace lotus {

constinit thread_local StepLane step_lane{};
constinit LaneUse lane_use{};

}  // namespace lotus
