#include "answers/controlflow/early_tests.hpp"

#include <set>

namespace lotus::analyzer::controlflow {
namespace {

constexpr std::size_t kMostOperators = 8;  // of the loop that lead to a test: more are none to do before it

}  // namespace

void EarlyTests::step(std::size_t loop, const LoopStep& step, std::uint64_t ticks) {
  if (step.entries > 0) loops_[loop].loop = ticks;
  if (step.entries + step.iterations > 0) loops_[loop].iteration = ticks;
}

bool EarlyTests::is_early(std::size_t loop, std::size_t extraction) const {
  if (loop == kNone) return false;
  const Begun& begun = loops_[loop];
  std::set<std::size_t> known{extraction};
  std::vector<std::size_t> open{extraction};
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (region_.operators[at].begin < begun.iteration) return false;
    for (const std::size_t maker : flow_.makers()[at])
      if (region_.operators[maker].begin >= begun.loop && known.insert(maker).second) open.push_back(maker);
    if (known.size() > kMostOperators) return false;
  }
  return true;
}

}  // namespace lotus::analyzer::controlflow
