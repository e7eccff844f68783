// The program's CPU time in an operation, by the function that used it.
#pragma once

#include <map>

#include "answers/stacks/frame_table.hpp"
#include "answers/stacks/profile.hpp"

namespace lotus::analyzer {

struct OwnTime {
  Tally cpu;                           // of all samples but the tracer's own
  std::map<FrameId, Tally> functions;  // that own them, see owner_of()

  // `names` names the stacks of the profile's trace in `frames`.
  void add(const OpProfile& profile, StackNames& names, const FrameTable& frames);
};

}  // namespace lotus::analyzer
