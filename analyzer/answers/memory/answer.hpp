// What `memory` says of the recorded steps of a run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "answers/memory/recorded_step.hpp"
#include "answers/memory/source.hpp"

namespace lotus::analyzer::memory {

// Storages that one operator made at one line of the program.
struct Group {
  std::string op;  // empty: not known
  SourceLine source;
  Role role = Role::older;
  std::string form;           // of the largest one; empty: not known
  std::uint64_t largest = 0;  // bytes of it
  std::uint64_t bytes = 0;
  std::uint64_t storages = 0;
  double byte_seconds = 0;  // of `held_longer`: bytes times the time after the last use
  bool between = false;     // of `growth`: some lie between two operators of the forward pass
};

// What each step leaves behind that the next one does not release.
struct Growth {
  std::uint64_t steps = 0;    // whole steps that were followed by a whole one, the run's first left out
  double bytes_per_step = 0;  // of groups that all of them leave behind
  std::vector<Group> groups;  // per step, largest first
  bool keeps_graphs = false;  // most of it is what only autograd's graph holds
  // What the allocator had given out at the first and the last step that are recorded, the run's first left
  // out.
  std::uint64_t first_step = 0, last_step = 0, first_bytes = 0, last_bytes = 0;
};

// Large blocks that are allocated anew in each step.
struct LargeBlocks {
  static constexpr std::uint64_t kLeast = 128 * 1024;  // bytes; from here on glibc may give them back at once
  std::uint64_t count = 0, bytes = 0;
};

struct MemoryAnswer {
  const RecordedStep* step = nullptr;     // that the rest is of; nullptr: none is recorded
  std::uint64_t workspace_at_peak = 0;    // bytes of temporaries of the operator that ran then
  std::map<Role, std::uint64_t> by_role;  // bytes at the peak
  std::uint64_t untouched = 0;            // bytes at the peak of what the step does not use
  std::uint64_t beside_allocator =
      0;  // at least so many bytes of older storages are not of PyTorch's allocator
  std::vector<Group> alive_at_peak;  // largest first
  std::vector<Group> held_longer;    // most byte-seconds first
  Floor floor;
  LargeBlocks large;
  Growth growth;
};

// `number`: the step to tell of; nothing: the one with the highest peak, of those that train if there are
// any.
MemoryAnswer answer_of(const std::vector<RecordedStep>& steps, std::optional<std::uint64_t> number);

const char* name_of(Role role);  // for people: "activations"
const char* key_of(Role role);   // for programs: "activation"

}  // namespace lotus::analyzer::memory
