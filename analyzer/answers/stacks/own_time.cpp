#include "answers/stacks/own_time.hpp"

#include <algorithm>

namespace lotus::analyzer {

std::string most_of(const Callers& callers, const FrameTable& frames) {
  const auto most = std::max_element(callers.begin(), callers.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == callers.end() ? std::string() : frames[most->first].name;
}

void OwnTime::add(const OpProfile& profile, StackNames& names, const FrameTable& frames) {
  for (const auto& [stack, tally] : profile.stacks) {
    const auto path = names.frames_of(stack);
    const Owner owner = owner_of(path, frames);
    if (owner.part == Part::tracer) continue;
    cpu.add(tally.all());
    if (owner.frame == nullptr) continue;
    functions[*owner.frame].add(tally.all());
    if (const FrameId* caller = named_caller(path, frames))
      callers[*owner.frame][*caller] += tally.all().cpu_ns;
  }
}

}  // namespace lotus::analyzer
