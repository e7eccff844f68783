#include "answers/stacks/own_time.hpp"

namespace lotus::analyzer {

void OwnTime::add(const OpProfile& profile, StackNames& names, const FrameTable& frames) {
  for (const auto& [stack, tally] : profile.stacks) {
    const auto path = names.frames_of(stack);
    const Owner owner = owner_of(path, frames);
    if (owner.part == Part::tracer) continue;
    cpu.add(tally.all());
    if (owner.frame != nullptr) functions[*owner.frame].add(tally.all());
  }
}

}  // namespace lotus::analyzer
