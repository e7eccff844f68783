// What `memory` says of the recorded steps of a run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "answers/memory/groups.hpp"
#include "answers/memory/growth.hpp"
#include "answers/memory/recorded_step.hpp"
#include "answers/memory/untold.hpp"

namespace lotus::analyzer::memory {

// Page faults of a usual step, and the large blocks that it allocates anew: medians of whole steps that come
// after the run's second one and make no states. Times are means of the same steps.
struct Faults {
  static constexpr std::uint64_t kLargeBlock =
      128 * 1024;           // bytes; from here on glibc may give them back at once
  std::uint64_t steps = 0;  // 0: too few are recorded
  double faults = 0, kernel_s = 0, seconds = 0;
  double blocks = 0, bytes = 0;
};

// What the storages of a step are that are alive at one moment, in bytes. workspace: of operators.
struct Composition {
  std::map<Role, std::uint64_t> by_role;
  std::uint64_t workspace = 0;
};
// `seconds`: since the step began. What the step does not use is not in it.
Composition composition_at(const RecordedStep& step, double seconds);

struct MemoryAnswer {
  const RecordedStep* step = nullptr;     // that the rest is of; nullptr: none is recorded
  std::uint64_t workspace_at_peak = 0;    // bytes of temporaries of the operator that ran then
  std::map<Role, std::uint64_t> by_role;  // bytes at the peak
  std::uint64_t beside_allocator =
      0;  // at least so many bytes of older storages are not of PyTorch's allocator
  std::vector<Group> alive_at_peak;  // largest first
  std::vector<Group> held_longer;    // most byte-seconds first
  Floor floor;
  Faults faults;
  Growth growth;
  Untold untold;
};

// `number`: the step to tell of; nothing: the one with the highest peak, of those that train if there are
// any. Throws WrongUsage, with the numbers there are, where it is none of `steps`.
MemoryAnswer answer_of(const std::vector<RecordedStep>& steps, std::optional<std::uint64_t> number);

const char* name_of(Role role);  // for people: "activations"
const char* key_of(Role role);   // for programs: "activation"

}  // namespace lotus::analyzer::memory
