#include "module_histories.hpp"

#include <algorithm>

namespace lotus::collector {
namespace {

constexpr std::size_t kMostInHistory = 16384;
constexpr std::size_t kMostProcesses = 65536;  // that did not inherit all they have

}  // namespace

void ModuleHistories::add(const ProcessKey& process, const Module& module) {
  if (histories_.size() >= kMostProcesses && !histories_.contains(process)) return;
  std::vector<Module>& history = histories_[process];
  if (history.size() < kMostInHistory) history.push_back(module);
}

void ModuleHistories::gone(const ProcessKey& process, std::uint64_t id, std::uint64_t ticks) {
  const auto history = histories_.find(process);
  if (history == histories_.end()) return;
  for (Module& module : history->second)
    if (module.id == id && module.gone == kStillLoaded) module.gone = ticks;
}

std::vector<Module> ModuleHistories::at(const ProcessKey& process, std::uint64_t ticks) const {
  std::vector<Module> found;
  const auto history = histories_.find(process);
  if (history == histories_.end()) return found;
  std::copy_if(history->second.begin(), history->second.end(), std::back_inserter(found),
               [ticks](const Module& module) { return module.from <= ticks && module.gone > ticks; });
  return found;
}

}  // namespace lotus::collector
