// The part of a step's plan that a PyTorch program can carry out as it is (LOTUS_TRY=memory-plan=FILE):
// activations that autograd saves in the forward pass leave fast memory after their last use there, and come
// back before their first use in the backward pass. All else stays in fast memory, and no operator works in
// slow memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "answers/plan/placement.hpp"

namespace lotus::analyzer::memory_plan {

inline constexpr std::uint64_t kLeastOffloaded = 64 * 1024;  // bytes; a smaller move costs more than it frees

// How the program's autograd can be told that it saves a storage.
struct SavedUse {
  std::size_t op = 0;  // the operator that may save it
  std::optional<std::size_t>
      argument;  // the storage's place among those that it reads, each once; nullopt: it made it
};

struct Offloadable {
  std::size_t storage = 0;
  std::size_t item = 0, segment = 0;  // of the whole problem: where it is in slow memory
  std::vector<SavedUse> uses;         // at least one, ascending
};

struct OffloadProblem {
  Problem problem;  // one item with one segment for each of `storages`; in slow memory it costs both moves
  std::vector<Offloadable> storages;
};

// `whole`: the step's problem. A storage may be moved that has kLeastOffloaded bytes or more, is made in the
// forward pass, is changed no more after it leaves, and is released in the backward pass: what is released
// later, something else than autograd holds.
OffloadProblem offload_problem(const memory::Step& step, const Problem& whole);

// The placement of the whole problem.
Placement whole_placement(const Problem& whole, const OffloadProblem& offload, const Placement& placement);

}  // namespace lotus::analyzer::memory_plan
