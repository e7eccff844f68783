#include "answers/memory/untold.hpp"

#include <algorithm>

namespace lotus::analyzer::memory {
namespace {

// Those of the step's process until it, in their order.
std::vector<const RecordedStep*> until(const std::vector<RecordedStep>& steps, const RecordedStep& step) {
  std::vector<const RecordedStep*> found;
  for (const RecordedStep& one : steps)
    if (one.process == step.process && one.live_known && one.step.number <= step.step.number)
      found.push_back(&one);
  std::stable_sort(found.begin(), found.end(), [](const RecordedStep* a, const RecordedStep* b) {
    return a->step.number < b->step.number;
  });
  return found;
}

}  // namespace

Untold untold_of(const std::vector<RecordedStep>& steps, const RecordedStep& step, std::uint64_t bytes) {
  Untold told;
  told.bytes = bytes;
  told.at_first = step.live_before;
  const auto before = until(steps, step);
  if (before.empty()) return told;
  told.at_first = before.front()->live_before;
  told.since = bytes > told.at_first ? bytes - told.at_first : 0;
  std::int64_t rise = 0;
  for (std::size_t i = 0; i + 1 < before.size(); ++i) {
    const RecordedStep &one = *before[i], &next = *before[i + 1];
    if (next.step.number <= one.step.number + 1 || !one.ended) continue;
    told.gaps = true;
    rise += static_cast<std::int64_t>(next.live_before) - static_cast<std::int64_t>(one.live_after);
  }
  told.between = rise > 0 ? static_cast<std::uint64_t>(rise) : 0;
  return told;
}

}  // namespace lotus::analyzer::memory
