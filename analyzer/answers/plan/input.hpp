// Steps that plans are made for, and the choice of one of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "answers/memory/step.hpp"

namespace lotus::analyzer::memory_plan {

// A line of the program.
struct Source {
  std::string file;
  std::uint64_t line = 0;
};

struct Input {
  std::vector<memory::Step> steps;
  std::map<std::uint64_t, Source> places;  // what Operator::place and Storage::place stand for
};

// Reads steps from JSON; docs/memory-plan.md has the form. Throws Unusable with the place in the file and
// what belongs there.
Input read_steps(const std::string& file);

// Throws Unusable if a step contradicts itself; `name`: of where it comes from.
void check(const memory::Step& step, const std::string& name);

struct TypicalStep {
  memory::Step step;
  std::size_t alike = 1, of = 1;  // steps with the same operators, and all
};

// The last one of those steps that have the same operators in the same order as most steps have. An
// operator's duration is the median of theirs. `number`: that step instead, as it was. Throws WrongUsage if
// there is none of this number, Unusable if there is no step.
TypicalStep typical_step(const Input& input, std::optional<std::uint64_t> number, const std::string& name);

}  // namespace lotus::analyzer::memory_plan
