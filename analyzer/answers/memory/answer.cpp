#include "answers/memory/answer.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "text/error.hpp"

namespace lotus::analyzer::memory {
namespace {

constexpr double kLeastIdle = 0.02;   // of the step's time
constexpr double kLeastHeld = 0.001;  // of the step's time times its peak

const RecordedStep* choose(const std::vector<RecordedStep>& steps, std::optional<std::uint64_t> number) {
  const RecordedStep* best = nullptr;
  const auto rank = [](const RecordedStep& step) {
    return std::tuple(step.step.number > 0 || !step.ended, step.peak_bytes);
  };
  for (const RecordedStep& step : steps) {
    if (number && step.step.number != *number) continue;
    if (best == nullptr || rank(step) > rank(*best)) best = &step;
  }
  return best;
}

// What has outlived the step lives to its end and beyond.
bool lives_at(const Storage& storage, const Life& life, double seconds) {
  return life.born_s <= seconds && (storage.survives || seconds < life.released_s);
}

// Of what the step does not use, what an earlier one made is known.
void add_untouched(MemoryAnswer& answer, Groups& groups, std::uint64_t untouched) {
  for (const Kept& kept : answer.step->kept) {
    if (kept.bytes > untouched) continue;  // another thread has released something
    untouched -= kept.bytes;
    answer.by_role[Role::untouched] += kept.bytes;
    groups.add_kept(*answer.step, kept);
  }
  answer.alive_at_peak = groups.largest_first();
  if (untouched == 0) return;
  answer.by_role[Role::untouched] += untouched;
  Group rest;
  rest.role = Role::untouched;
  rest.older = true;
  rest.bytes = untouched;
  const auto place = std::find_if(answer.alive_at_peak.begin(), answer.alive_at_peak.end(),
                                  [&](const Group& group) { return group.bytes < untouched; });
  answer.alive_at_peak.insert(place, std::move(rest));
}

void look_at_peak(MemoryAnswer& answer) {
  const RecordedStep& step = *answer.step;
  Groups groups;
  std::uint64_t older = 0;
  for (std::size_t i = 0; i < step.lives.size(); ++i) {
    const Storage& storage = step.step.storages[i];
    if (storage.older) older += storage.bytes;
    if (lives_at(storage, step.lives[i], step.peak_s)) groups.add(step, i);
  }
  Composition peak = composition_at(step, step.peak_s);
  answer.by_role = std::move(peak.by_role);
  answer.workspace_at_peak = peak.workspace;
  answer.beside_allocator = older > step.live_before ? older - step.live_before : 0;
  add_untouched(answer, groups, step.live_before > older ? step.live_before - older : 0);
}

std::uint64_t untold_bytes(const MemoryAnswer& answer) {
  std::uint64_t bytes = 0;
  for (const Group& group : answer.alive_at_peak)
    if (group.role == Role::untouched && group.storages == 0) bytes += group.bytes;
  return bytes;
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
  answer.held_longer = groups.largest_first();
  const double least = kLeastHeld * step.seconds * static_cast<double>(step.peak_bytes);
  std::erase_if(answer.held_longer, [&](const Group& group) { return group.byte_seconds < least; });
  std::stable_sort(answer.held_longer.begin(), answer.held_longer.end(),
                   [](const Group& a, const Group& b) { return a.byte_seconds > b.byte_seconds; });
}

struct LargeBlocks {
  double count = 0, bytes = 0;
};

LargeBlocks large_blocks_of(const RecordedStep& step) {
  LargeBlocks large;
  const auto add = [&](std::uint64_t bytes) {
    if (bytes < Faults::kLargeBlock) return;
    ++large.count;
    large.bytes += static_cast<double>(bytes);
  };
  for (const Storage& storage : step.step.storages)
    if (!storage.older && !storage.survives) add(storage.bytes);
  for (const Temporary& one : step.temporaries) add(one.bytes);
  return large;
}

bool makes_states(const RecordedStep& step) {
  for (std::size_t i = 0; i < step.lives.size(); ++i)
    if (!step.step.storages[i].older && step.lives[i].role == Role::optimizer_state) return true;
  return false;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Of times in the kernel, which it may count by ticks: one step has a whole tick and the next one none.
double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Faults faults_of(const std::vector<RecordedStep>& steps, const RecordedStep& like) {
  std::vector<double> faults, kernel, seconds, blocks, bytes;
  for (const RecordedStep& step : steps) {
    if (step.process != like.process || step.trains() != like.trains() || step.step.number < 2) continue;
    if (!step.is_whole() || makes_states(step)) continue;
    const LargeBlocks large = large_blocks_of(step);
    faults.push_back(static_cast<double>(step.faults));
    kernel.push_back(step.system_s);
    seconds.push_back(step.seconds);
    blocks.push_back(large.count);
    bytes.push_back(large.bytes);
  }
  if (faults.size() < 2) return {};
  return {faults.size(), median(faults), mean(kernel), mean(seconds), median(blocks), median(bytes)};
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
                               {"older tensors", "older"},
                               {"older, not used in this step", "untouched"}};

}  // namespace

const char* name_of(Role role) { return kRoles[static_cast<std::size_t>(role)].name; }
const char* key_of(Role role) { return kRoles[static_cast<std::size_t>(role)].key; }

Composition composition_at(const RecordedStep& step, double seconds) {
  Composition made;
  for (std::size_t i = 0; i < step.lives.size(); ++i)
    if (const Storage& storage = step.step.storages[i]; lives_at(storage, step.lives[i], seconds))
      made.by_role[step.lives[i].role] += storage.bytes;
  for (const Temporary& one : step.temporaries)
    if (one.born_s <= seconds && seconds < one.released_s) made.workspace += one.bytes;
  return made;
}

MemoryAnswer answer_of(const std::vector<RecordedStep>& steps, std::optional<std::uint64_t> number) {
  MemoryAnswer answer;
  answer.step = choose(steps, number);
  if (answer.step == nullptr && !steps.empty()) {
    std::vector<std::uint64_t> numbers;
    numbers.reserve(steps.size());
    for (const RecordedStep& step : steps) numbers.push_back(step.step.number);
    throw WrongUsage(no_such_step(*number, std::move(numbers)));
  }
  if (answer.step == nullptr) return answer;
  look_at_peak(answer);
  look_at_held(answer);
  answer.faults = faults_of(steps, *answer.step);
  answer.floor = floor_of(answer.step->step);
  answer.growth = growth_of(steps, answer.step->process);
  answer.untold = untold_of(steps, *answer.step, untold_bytes(answer));
  return answer;
}

}  // namespace lotus::analyzer::memory
