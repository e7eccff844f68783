// The program's CPU time in an operation, by the function that used it.
#pragma once

#include <map>
#include <string>

#include "answers/stacks/frame_table.hpp"
#include "answers/stacks/profile.hpp"

namespace lotus::analyzer {

// The CPU time in ns of a place without a name under each function that it ran in, see named_caller().
using Callers = std::map<FrameId, double>;
// The name of the one with most; empty: none.
std::string most_of(const Callers& callers, const FrameTable& frames);

struct OwnTime {
  Tally cpu;                           // of all samples but the tracer's own
  std::map<FrameId, Tally> functions;  // that own them, see owner_of()
  std::map<FrameId, Callers> callers;  // of those without a name

  // `names` names the stacks of the profile's trace in `frames`.
  void add(const OpProfile& profile, StackNames& names, const FrameTable& frames);
};

}  // namespace lotus::analyzer
