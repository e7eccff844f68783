#include "answers/memory/recorded_step.hpp"

#include <algorithm>

namespace lotus::analyzer::memory {

bool RecordedStep::trains() const {
  return std::any_of(step.operators.begin(), step.operators.end(),
                     [](const Operator& at) { return at.phase == Phase::backward; });
}

const char* name_of(Phase phase) {
  return phase == Phase::forward ? "forward" : phase == Phase::backward ? "backward" : "optimizer";
}

Floor floor_of(const Step& step) {
  Floor floor;
  for (std::size_t i = 0; i < step.operators.size(); ++i) {
    std::uint64_t bytes = step.operators[i].workspace;
    for (const Operand& operand : step.operators[i].operands) bytes += step.storages[operand.storage].bytes;
    if (bytes > floor.bytes) floor = {bytes, i};
  }
  return floor;
}

}  // namespace lotus::analyzer::memory
