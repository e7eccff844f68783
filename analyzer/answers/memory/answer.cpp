#include "answers/memory/answer.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace lotus::analyzer::memory {
namespace {

using GroupKey = std::tuple<std::string, SourceLine, Role>;

// Something between two operators of the forward pass: no variable of the program needs to hold it.
bool is_between(const Storage& storage, const Life& life) {
  return life.role == Role::activation && storage.uses.size() > 1;
}

class Groups {
 public:
  void add(const RecordedStep& step, std::size_t storage, double byte_seconds = 0) {
    const Storage& one = step.step.storages[storage];
    const Life& life = step.lives[storage];
    SourceLine source = source_of(*step.process, one.place);
    Group& group = by_key_[{life.made_by, source, life.role}];
    if (group.storages == 0 || one.bytes > group.largest) {
      group.form = life.form;
      group.largest = one.bytes;
    }
    group.op = life.made_by;
    group.source = std::move(source);
    group.role = life.role;
    group.bytes += one.bytes;
    group.byte_seconds += byte_seconds;
    group.between = group.between || is_between(one, life);
    ++group.storages;
  }
  const std::map<GroupKey, Group>& all() const { return by_key_; }
  template <class Better>
  std::vector<Group> sorted(Better better) const {
    std::vector<Group> groups;
    for (const auto& [key, group] : by_key_) groups.push_back(group);
    std::stable_sort(groups.begin(), groups.end(), better);
    return groups;
  }

 private:
  std::map<GroupKey, Group> by_key_;
};

constexpr double kLeastIdle = 0.02;  // of the step's time

bool is_larger(const Group& a, const Group& b) { return a.bytes > b.bytes; }

const RecordedStep* choose(const std::vector<RecordedStep>& steps, std::optional<std::uint64_t> number) {
  const RecordedStep* best = nullptr;
  const auto rank = [](const RecordedStep& step) {
    return std::tuple(step.trains(), step.step.number > 0 || !step.ended, step.peak_bytes);
  };
  for (const RecordedStep& step : steps) {
    if (number && step.step.number != *number) continue;
    if (best == nullptr || rank(step) > rank(*best)) best = &step;
  }
  return best;
}

bool lives_at(const Life& life, double seconds) {
  return life.born_s <= seconds && seconds < life.released_s;
}

void look_at_peak(MemoryAnswer& answer) {
  const RecordedStep& step = *answer.step;
  Groups groups;
  std::uint64_t older = 0;
  for (std::size_t i = 0; i < step.lives.size(); ++i) {
    const bool is_older = step.step.storages[i].older;
    if (is_older) older += step.step.storages[i].bytes;
    // What has outlived the step lives to its end and beyond.
    const bool lives = lives_at(step.lives[i], step.peak_s) ||
                       (step.step.storages[i].survives && step.lives[i].born_s <= step.peak_s);
    if (!lives) continue;
    groups.add(step, i);
    answer.by_role[step.lives[i].role] += step.step.storages[i].bytes;
  }
  for (const Temporary& one : step.temporaries)
    if (one.born_s <= step.peak_s && step.peak_s < one.released_s) answer.workspace_at_peak += one.bytes;
  answer.untouched = step.live_before > older ? step.live_before - older : 0;
  answer.beside_allocator = older > step.live_before ? older - step.live_before : 0;
  answer.alive_at_peak = groups.sorted(is_larger);
}

void look_at_held(MemoryAnswer& answer) {
  const RecordedStep& step = *answer.step;
  Groups groups;
  for (std::size_t i = 0; i < step.lives.size(); ++i) {
    const Storage& storage = step.step.storages[i];
    if (storage.older || storage.survives || storage.uses.empty()) continue;
    const double idle = step.lives[i].released_s - step.ends_s[storage.uses.back()];
    if (idle > kLeastIdle * step.seconds) groups.add(step, i, idle * static_cast<double>(storage.bytes));
  }
  answer.held_longer =
      groups.sorted([](const Group& a, const Group& b) { return a.byte_seconds > b.byte_seconds; });
}

void look_at_large(MemoryAnswer& answer) {
  const auto add = [&](std::uint64_t bytes) {
    if (bytes < LargeBlocks::kLeast) return;
    ++answer.large.count;
    answer.large.bytes += bytes;
  };
  for (const Storage& storage : answer.step->step.storages)
    if (!storage.older && !storage.survives) add(storage.bytes);
  for (const Temporary& one : answer.step->temporaries) add(one.bytes);
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
    if (storage.older || !storage.survives || released.contains(step.lives[i].address)) continue;
    groups.add(step, i);
  }
  return groups;
}

bool follows(const RecordedStep& one, const RecordedStep& next) {
  return one.process == next.process && next.step.number == one.step.number + 1 && one.is_whole() &&
         next.is_whole();
}

// Whether most of what is left behind is held by autograd's graph: tensors between operators, and the batch
// that they were computed from.
bool is_graph(const std::vector<Group>& left) {
  std::uint64_t all = 0, between = 0, batch = 0;
  for (const Group& group : left) {
    all += group.bytes;
    if (group.role == Role::batch) batch += group.bytes;
    if (group.between) between += group.bytes;
  }
  return between > 0 && 2 * (between + batch) > all;
}

// Groups of `all` that each of its members has, with the least that one has.
std::vector<Group> common_groups(const std::vector<Groups>& all) {
  std::vector<Group> common;
  for (const auto& [key, first] : all.front().all()) {
    Group least = first;
    bool in_all = true;
    for (const Groups& other : all) {
      const auto found = other.all().find(key);
      in_all = in_all && found != other.all().end();
      if (in_all && found->second.bytes < least.bytes) least = found->second;
    }
    if (in_all) common.push_back(std::move(least));
  }
  std::stable_sort(common.begin(), common.end(), is_larger);
  return common;
}

void look_at_levels(Growth& growth, const std::vector<RecordedStep>& steps, const Process* process) {
  for (const RecordedStep& step : steps) {
    if (step.process != process || step.step.number == 0 || !step.live_known) continue;
    if (growth.first_step == 0) {
      growth.first_step = step.step.number;
      growth.first_bytes = step.live_before;
    }
    growth.last_step = step.step.number;
    growth.last_bytes = step.live_before;
  }
}

Growth growth_of(const std::vector<RecordedStep>& steps, const Process* process) {
  Growth growth;
  look_at_levels(growth, steps, process);
  std::vector<Groups> left;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    if (steps[i].process != process || steps[i].step.number == 0 || !follows(steps[i], steps[i + 1]))
      continue;
    left.push_back(left_behind(steps[i], steps[i + 1]));
  }
  growth.steps = left.size();
  // One step may leave something once, as a state that is made late.
  if (left.size() < 2) return growth;
  growth.groups = common_groups(left);
  for (const Group& group : growth.groups) growth.bytes_per_step += static_cast<double>(group.bytes);
  growth.keeps_graphs = is_graph(growth.groups);
  return growth;
}

struct RoleName {
  const char* name;
  const char* key;
};
constexpr RoleName kRoles[] = {{"activations", "activation"},
                               {"on the way back", "backward"},
                               {"gradients of parameters", "gradient"},
                               {"made in the optimizer's step", "optimizer"},
                               {"the batch", "batch"},
                               {"parameters", "parameter"},
                               {"states of the optimizer", "optimizer_state"},
                               {"older tensors", "older"}};

}  // namespace

const char* name_of(Role role) { return kRoles[static_cast<std::size_t>(role)].name; }
const char* key_of(Role role) { return kRoles[static_cast<std::size_t>(role)].key; }

MemoryAnswer answer_of(const std::vector<RecordedStep>& steps, std::optional<std::uint64_t> number) {
  MemoryAnswer answer;
  answer.step = choose(steps, number);
  if (answer.step == nullptr) return answer;
  look_at_peak(answer);
  look_at_held(answer);
  look_at_large(answer);
  answer.floor = floor_of(answer.step->step);
  answer.growth = growth_of(steps, answer.step->process);
  return answer;
}

}  // namespace lotus::analyzer::memory
