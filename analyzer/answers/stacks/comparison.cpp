#include "answers/stacks/comparison.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "answers/stats/interval.hpp"

namespace lotus::analyzer {
namespace {

constexpr std::uint64_t kFewest = 2;  // samples in both runs together, for a function to be compared

Tally tally_of(const OpCost& cost, FrameId id) {
  const auto found = cost.functions.find(id);
  return found == cost.functions.end() ? Tally{} : found->second;
}

// Of a library without names in one of the runs, functions would seem to be new, or gone.
std::set<std::string> unnamed_libraries(const OpCost& before, const OpCost& after, const FrameTable& frames) {
  std::set<std::string> libraries;
  for (const auto* cost : {&before, &after})
    for (const auto& [id, tally] : cost->functions)
      if (frames[id].part == Part::native && !frames[id].named) libraries.insert(frames[id].library);
  return libraries;
}

std::vector<FunctionComparison> functions_of(const OpCost& before, const OpCost& after,
                                             const FrameTable& frames, const std::set<std::string>& unnamed) {
  std::set<FrameId> ids;
  for (const auto* cost : {&before, &after})
    for (const auto& [id, tally] : cost->functions)
      if (frames[id].part == Part::native && !unnamed.contains(frames[id].library)) ids.insert(id);
  std::vector<FunctionComparison> changes;
  for (const FrameId id : ids) {
    const Tally a = tally_of(before, id);
    const Tally b = tally_of(after, id);
    if (a.samples + b.samples < kFewest) continue;
    changes.push_back({frames[id], {before.cpu_per_call(a), after.cpu_per_call(b)}});
  }
  return changes;
}

OpComparison change_of(const std::string& name, const OpCost& before, const OpCost& after,
                       const FrameTable& frames, std::set<std::string>& unnamed) {
  OpComparison op;
  op.name = name;
  op.calls_before = before.wall.calls();
  op.calls_after = after.wall.calls();
  op.wall = {before.wall.estimate(), after.wall.estimate()};
  op.by_clock = before.clock.calls() > 0 && after.clock.calls() > 0;
  op.cpu = op.by_clock ? Difference{before.clock.estimate(), after.clock.estimate()}
                       : Difference{before.cpu_per_call(before.cpu), after.cpu_per_call(after.cpu)};
  if (!op.in_both()) return op;
  const auto libraries = unnamed_libraries(before, after, frames);
  unnamed.insert(libraries.begin(), libraries.end());
  op.functions = functions_of(before, after, frames, libraries);
  return op;
}

// As Catalog::op() calls operations whose definition is lost.
bool is_lost(const std::string& name) {
  return name.ends_with("(its name is lost)") || name.ends_with("(their names are lost)");
}

LoopComparison change_of(const LoopCost& before, const LoopCost& after) {
  const auto change = [](const RowMean& a, const RowMean& b) {
    return Difference{a.estimate(), b.estimate()};
  };
  return {before,
          after,
          change(before.batch, after.batch),
          change(before.wait, after.wait),
          change(before.step, after.step),
          change(before.fetch, after.fetch)};
}

void judge(Comparison& comparison) {
  LoopComparison& loop = comparison.loop;
  if (loop.in_both()) comparison.quantities += 4;
  for (const auto& op : comparison.ops)
    if (op.in_both()) comparison.quantities += 2 + op.functions.size();
  comparison.quantities += comparison.counters.changes.size();
  const double each = 1 - kMissed / static_cast<double>(std::max<std::uint64_t>(1, comparison.quantities));
  if (loop.in_both())
    for (Difference* change : {&loop.batch, &loop.wait, &loop.step, &loop.fetch}) judge(*change, each);
  for (auto& op : comparison.ops) {
    if (!op.in_both()) continue;
    judge(op.wall, each);
    judge(op.cpu, each);
    for (auto& function : op.functions) judge(function.cpu, each);
    std::stable_sort(op.functions.begin(), op.functions.end(),
                     [](const auto& a, const auto& b) { return a.cpu.size() > b.cpu.size(); });
  }
  for (auto& counter : comparison.counters.changes) judge(counter.per_call, each);
  std::stable_sort(
      comparison.ops.begin(), comparison.ops.end(),
      [](const OpComparison& a, const OpComparison& b) { return a.wall.size() > b.wall.size(); });
}

}  // namespace

Comparison compare(const Costs& before, const Costs& after, const FrameTable& frames,
                   CounterComparison counters) {
  Comparison comparison;
  comparison.counters = std::move(counters);
  std::set<std::string> names;
  bool sampled[2] = {};
  for (const bool second : {false, true})
    for (const auto& [name, cost] : second ? after.ops : before.ops) {
      names.insert(name);
      sampled[second] = sampled[second] || cost.cpu.samples > 0;
    }
  comparison.sampled = sampled[0] && sampled[1];
  static const OpCost kNone;
  for (const auto& name : names) {
    if (is_lost(name)) {
      ++comparison.unnamed_ops;
      continue;
    }
    const auto a = before.ops.find(name);
    const auto b = after.ops.find(name);
    OpComparison op =
        change_of(name, a == before.ops.end() ? kNone : a->second, b == after.ops.end() ? kNone : b->second,
                  frames, comparison.unnamed_libraries);
    // A runner, which has samples but no calls.
    if (op.calls_before + op.calls_after > 0) comparison.ops.push_back(std::move(op));
  }
  comparison.loop = change_of(before.loop, after.loop);
  judge(comparison);
  return comparison;
}

}  // namespace lotus::analyzer
