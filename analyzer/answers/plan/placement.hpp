// A plan in its bare form: where each storage lies in each segment of its life; and what it comes to.
#pragma once

#include <cstdint>
#include <vector>

#include "answers/plan/problem.hpp"

namespace lotus::analyzer::memory_plan {

// By item and segment; true: in fast memory.
using Placement = std::vector<std::vector<bool>>;

struct Move {
  std::size_t storage = 0;
  std::size_t before = 0;  // the operator before which it moves; the number of operators: at the step's end
  bool to_fast = false;
  bool copied = false;  // false: dropped from fast memory, as its copy in slow memory is still valid
  double seconds = 0;
};

struct Outcome {
  double seconds = 0;                    // predicted
  double move_seconds = 0;               // the part of it that moves take
  std::vector<Move> moves;               // in order of `before`
  std::vector<std::int64_t> fast, slow;  // pages taken, by moment; `fast` includes what no plan gives
};

Placement all_in(const Problem& problem, bool fast);

// Seconds of an item beyond those in fast memory: of its operators and its moves.
double seconds_of(const Item& item, const std::vector<bool>& places);
double seconds_of(const Problem& problem, const Placement& placement);

Outcome outcome_of(const Problem& problem, const Placement& placement);

// Whether the placement has the problem's form, keeps to the limit, and leaves what is cyclic where it was.
bool allowed(const Problem& problem, const Placement& placement, std::int64_t limit_pages);

// The pages of fast memory that a placement takes, by moment.
std::vector<std::int64_t> taken_by(const Problem& problem, const Placement& placement);

// A placement of the collapsed problem as one of the problem itself.
Placement expanded(const Problem& problem, const Placement& placement);

}  // namespace lotus::analyzer::memory_plan
