#include "answers/controlflow/data_flow.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace lotus::analyzer::controlflow {
namespace {

constexpr std::array<std::string_view, 6> kExtracting = {"aten::item",       "aten::_local_scalar_dense",
                                                         "aten::is_nonzero", "aten::equal",
                                                         "aten::allclose",   "aten::__contains__"};

// A result of an operator: a tensor at an offset in a storage. A view is a result of its own, of the storage
// that it shows.
struct Made {
  std::size_t by = 0, number = 0;
};

// A storage from when it is allocated until it is released: addresses come again.
struct Storage {
  std::map<std::uint64_t, Made> at;  // by offset: the last result there
  std::vector<Made> made;            // results that are new memory
};

class Tracker {
 public:
  Storage& of(std::uint64_t address) { return live_[address]; }
  // A block begins or ends there.
  template <class Release>
  void forget(std::uint64_t address, Release release) {
    const auto found = live_.find(address);
    if (found == live_.end()) return;
    for (const Made& made : found->second.made) release(made);
    live_.erase(found);
  }

 private:
  std::unordered_map<std::uint64_t, Storage> live_;
};

}  // namespace

bool extracts(const std::string& name) {
  return std::find(kExtracting.begin(), kExtracting.end(), name) != kExtracting.end();
}

DataFlow::DataFlow(const Region& region)
    : users_(region.operators.size()), makers_(region.operators.size()), results_(region.operators.size()) {
  Tracker tracker;
  const auto release = [&](const Made& made) { results_[made.by][made.number].stays = false; };
  const auto use = [&](std::size_t user, const Made& made) {
    Result& result = results_[made.by][made.number];
    result.used = true;
    if (result.users.empty() || result.users.back() != user) result.users.push_back(user);
    std::vector<std::size_t>& users = users_[made.by];
    if (users.empty() || users.back() != user) users.push_back(user);
    std::vector<std::size_t>& makers = makers_[user];
    if (makers.empty() || makers.back() != made.by) makers.push_back(made.by);
  };
  std::size_t change = 0;
  const auto apply_changes = [&](std::size_t operand) {
    for (; change < region.changes.size() && region.changes[change].before <= operand; ++change)
      tracker.forget(region.changes[change].address, release);
  };
  for (std::size_t i = 0; i < region.operators.size(); ++i) {
    std::set<std::uint64_t> read, made_here;
    for (std::size_t o = region.operators[i].first; o < region.operators[i].last; ++o) {
      const Operand& operand = region.operands[o];
      apply_changes(o);
      if (operand.data == 0) continue;
      if (!operand.result) {
        read.insert(operand.data);
        const Storage& storage = tracker.of(operand.data);
        if (const auto exact = storage.at.find(operand.offset); exact != storage.at.end())
          use(i, exact->second);
        else
          for (const Made& made : storage.made) use(i, made);
        continue;
      }
      const bool shown = read.contains(operand.data);
      if (!shown && made_here.insert(operand.data).second) tracker.forget(operand.data, release);
      const Made made{i, results_[i].size()};
      results_[i].push_back({false, !shown, {}});
      Storage& storage = tracker.of(operand.data);
      storage.at[operand.offset] = made;
      if (!shown) storage.made.push_back(made);
    }
  }
  apply_changes(region.operands.size());
  find_control(region);
}

// From the last operator to the first: whom an operator serves comes after it.
void DataFlow::find_control(const Region& region) {
  control_.assign(region.operators.size(), false);
  serves_.assign(region.operators.size(), kNobody);
  for (std::size_t i = region.operators.size(); i-- > 0;) {
    const auto hook = region.process->hooks.find(region.operators[i].hook);
    if (hook != region.process->hooks.end() && extracts(hook->second.name)) {
      control_[i] = true;
      serves_[i] = i;
      continue;
    }
    const std::vector<Result>& results = results_[i];
    // What is changed in place is more than its results.
    const bool in_place = hook != region.process->hooks.end() && hook->second.name.ends_with('_');
    const bool serves = !results.empty() && !in_place &&
                        std::all_of(results.begin(), results.end(), [&](const Result& result) {
                          return result.used && !result.stays &&
                                 std::all_of(result.users.begin(), result.users.end(),
                                             [&](std::size_t user) { return user > i && control_[user]; });
                        });
    if (!serves) continue;
    control_[i] = true;
    serves_[i] = serves_[users_[i].front()];
  }
}

std::vector<bool> DataFlow::reaching(const std::vector<bool>& goals) const {
  std::vector<bool> reaching(users_.size(), false);
  for (std::size_t i = users_.size(); i-- > 0;)
    reaching[i] = std::any_of(users_[i].begin(), users_[i].end(),
                              [&](std::size_t user) { return user > i && (goals[user] || reaching[user]); });
  return reaching;
}

}  // namespace lotus::analyzer::controlflow
