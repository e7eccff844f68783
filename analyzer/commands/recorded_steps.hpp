// The steps of training that traces have the operators of, as `memory` and `memory-plan` ask for them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "answers/memory/recorded_step.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

struct RecordedSteps {
  std::vector<std::unique_ptr<Trace>> traces;  // steps point into them
  std::vector<memory::RecordedStep> steps;
  bool region = false;  // calls of a function are recorded in a trace: it has no steps
};

// `named`: traces as the command line names them; none: the newest. Throws Unusable.
RecordedSteps recorded_steps_of(const std::vector<std::string>& named);
// The same; throws Unusable with the reason and the remedy, too, where no step is recorded.
RecordedSteps needed_steps_of(const std::vector<std::string>& named);

}  // namespace lotus::analyzer
