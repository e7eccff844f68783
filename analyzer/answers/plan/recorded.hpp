// Steps that were recorded, as input for plans.
#pragma once

#include <vector>

#include "answers/memory/recorded_step.hpp"
#include "answers/plan/input.hpp"

namespace lotus::analyzer::memory_plan {

// Of `steps` those that are whole and have a backward pass; where none has, all that are whole. Lives are
// made so long that each storage is there where an operator uses it: a release by another thread may have
// been missed. Lines are the program's own. Throws Unusable where no step is whole; `name`: of where they
// come from.
Input input_of(const std::vector<memory::RecordedStep>& steps, const std::string& name);

}  // namespace lotus::analyzer::memory_plan
