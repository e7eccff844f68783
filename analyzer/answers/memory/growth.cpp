#include "answers/memory/growth.hpp"

#include <algorithm>
#include <set>

namespace lotus::analyzer::memory {
namespace {

bool follows(const RecordedStep& one, const RecordedStep& next) {
  return one.process == next.process && next.step.number == one.step.number + 1 && one.is_whole() &&
         next.is_whole();
}

// Storages that `step` made and `next`, which follows it, did not release.
Groups left_behind(const RecordedStep& step, const RecordedStep& next) {
  std::set<std::uint64_t> released;
  for (std::size_t i = 0; i < next.lives.size(); ++i)
    if (next.step.storages[i].older && !next.step.storages[i].survives)
      released.insert(next.lives[i].address);
  Groups groups;
  for (std::size_t i = 0; i < step.lives.size(); ++i) {
    const Storage& storage = step.step.storages[i];
    if (!storage.older && storage.survives && !released.contains(step.lives[i].address)) groups.add(step, i);
  }
  return groups;
}

// Groups that each member of `all` has, with the least that one has.
std::vector<Group> common_groups(const std::vector<Groups>& all) {
  const Groups& common = all.front();
  std::vector<Group> kept;
  for (Group& least : common.largest_first()) {
    bool in_all = true;
    for (const Groups& other : all) {
      const auto found = other.all().find(Groups::key_of(least));
      in_all = in_all && found != other.all().end();
      if (in_all && found->second.bytes < least.bytes) least = found->second;
    }
    if (in_all) kept.push_back(std::move(least));
  }
  return kept;
}

// But for states of an optimizer, which are made once, and gradients, which one of the next steps releases.
std::vector<Group> any_groups(const std::vector<Groups>& all) {
  std::map<Groups::Key, Group> most;
  for (const Groups& groups : all)
    for (const auto& [key, group] : groups.all()) {
      if (group.role == Role::optimizer_state || group.role == Role::gradient) continue;
      Group& known = most[key];
      if (group.bytes > known.bytes) known = group;
    }
  std::vector<Group> sorted;
  sorted.reserve(most.size());
  for (const auto& [key, group] : most) sorted.push_back(group);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Group& a, const Group& b) { return a.bytes > b.bytes; });
  return sorted;
}

// Whether most of what is left behind is held by autograd's graph: tensors between operators, and the batch
// that they were computed from. One or two of them may be outputs of the model that a variable holds.
bool is_graph(const std::vector<Group>& left) {
  constexpr std::uint64_t kLeastBetween = 3;
  std::uint64_t all = 0, of_graph = 0, between = 0;
  for (const Group& group : left) {
    all += group.bytes;
    between += group.between;
    if (group.between > 0 || group.role == Role::batch) of_graph += group.bytes;
  }
  return between >= kLeastBetween && 2 * of_graph > all;
}

std::vector<Level> levels_of(const std::vector<RecordedStep>& steps, const Process* process) {
  std::vector<Level> levels;
  const RecordedStep* last = nullptr;
  for (const RecordedStep& step : steps) {
    if (step.process != process || step.step.number == 0 || !step.live_known) continue;
    levels.push_back({step.step.number, step.live_before});
    last = &step;
  }
  if (last != nullptr && last->ended) levels.push_back({last->step.number + 1, last->live_after});
  return levels;
}

// Less may be anything.
std::uint64_t allowance(std::uint64_t level) {
  constexpr std::uint64_t kLeast = 64 * 1024;
  return std::max(kLeast, level / 100);
}

Trend trend_of(const std::vector<Level>& levels) {
  constexpr std::size_t kLeastLevels = 3;
  if (levels.size() < kLeastLevels) return Trend::unknown;
  const std::uint64_t first = levels.front().bytes, last = levels.back().bytes;
  std::uint64_t least = first, most = first, fall = 0;
  for (const Level& level : levels) {
    least = std::min(least, level.bytes);
    most = std::max(most, level.bytes);
    fall = std::max(fall, most - level.bytes);
  }
  if (most - least <= allowance(first)) return Trend::flat;
  if (last <= first + allowance(first)) return Trend::flat;
  const std::uint64_t rise = last - first, middle = levels[levels.size() / 2].bytes;
  const bool early = middle > first && 5 * (middle - first) >= rise;
  const bool late = last > middle && 5 * (last - middle) >= rise;
  return early && late && 4 * fall <= rise ? Trend::rises : Trend::varies;
}

// Whether memory in use rose by half of what these steps seem to leave behind, or more: else later steps
// release it, as of a buffer of some batches. True where the level is not known.
bool is_confirmed(const Growth& growth) {
  if (growth.levels.size() < 2) return true;
  const Level &first = growth.levels.front(), &last = growth.levels.back();
  const double expected = growth.bytes_per_step * static_cast<double>(last.step - first.step);
  return static_cast<double>(last.bytes) >= static_cast<double>(first.bytes) + expected / 2;
}

}  // namespace

Growth growth_of(const std::vector<RecordedStep>& steps, const Process* process) {
  Growth growth;
  growth.levels = levels_of(steps, process);
  growth.trend = trend_of(growth.levels);
  std::vector<Groups> left;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i)
    if (steps[i].process == process && steps[i].step.number > 0 && follows(steps[i], steps[i + 1]))
      left.push_back(left_behind(steps[i], steps[i + 1]));
  growth.steps = left.size();
  growth.sometimes = any_groups(left);
  // One step may leave something once, as a state that is made late.
  if (left.size() < 2) return growth;
  growth.groups = common_groups(left);
  for (const Group& group : growth.groups) growth.bytes_per_step += static_cast<double>(group.bytes);
  if (!is_confirmed(growth)) {
    growth.groups.clear();
    growth.bytes_per_step = 0;
  }
  growth.keeps_graphs = is_graph(growth.groups);
  return growth;
}

}  // namespace lotus::analyzer::memory
