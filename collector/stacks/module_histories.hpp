// What processes had loaded at any time. Their forked children, which mostly have the same, refer to it; a
// child may live longer than its parent.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace lotus::collector {

inline constexpr std::uint64_t kStillLoaded = UINT64_MAX;

struct Module {
  std::uint64_t id, start, end;
  std::uint64_t from, gone;  // ticks
  std::uint64_t to_common;   // common address = address + this
  bool old;                  // was gone at the last Modules::forget_gone()
};

// A process, by its pid and the ticks of its ProcessFrame.
using ProcessKey = std::pair<std::uint64_t, std::uint64_t>;

class ModuleHistories {
 public:
  void add(const ProcessKey& process, const Module& module);
  void gone(const ProcessKey& process, std::uint64_t id, std::uint64_t ticks);
  // The modules that were defined and not gone at `ticks`, as far as they are known by now.
  std::vector<Module> at(const ProcessKey& process, std::uint64_t ticks) const;

 private:
  std::map<ProcessKey, std::vector<Module>> histories_;
};

}  // namespace lotus::collector
