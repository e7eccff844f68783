#include "answers/memory/recorded_step.hpp"

#include <algorithm>

namespace lotus::analyzer::memory {

bool RecordedStep::trains() const {
  return std::any_of(step.operators.begin(), step.operators.end(),
                     [](const Operator& at) { return at.phase == Phase::backward; });
}

bool RecordedStep::trains_elsewhere() const {
  return elsewhere != 0 && !trains() &&
         std::any_of(step.operators.begin(), step.operators.end(),
                     [](const Operator& at) { return at.phase == Phase::optimizer; });
}

const char* name_of(Phase phase) {
  return phase == Phase::forward ? "forward" : phase == Phase::backward ? "backward" : "optimizer";
}

}  // namespace lotus::analyzer::memory
