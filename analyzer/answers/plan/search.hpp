// The built-in solver: branch and bound over where storages lie, with bounds by prices for fast memory
// (Lagrangian relaxation of the limit, as good a bound as the integer program's linear relaxation).
#pragma once

#include "answers/plan/placement.hpp"

namespace lotus::analyzer::memory_plan {

struct Effort {
  double gap = 0.01;         // good enough: predicted time over its lower bound, as a share of the time
  double time_limit_s = 60;  // ends with what is best until then
};

struct Solved {
  Placement placement;
  double seconds = 0;
  double bound = 0;  // no placement takes less
  bool reached(double gap) const { return seconds - bound <= gap * seconds + 1e-12 * seconds; }
};

// Never worse than `start`, which keeps to the limit.
Solved search(const Problem& problem, std::int64_t limit_pages, const Effort& effort, Placement start);

// A lower bound alone, from the prices; `seconds`: of a known placement.
double bound_of(const Problem& problem, std::int64_t limit_pages, const Effort& effort,
                const Placement& known);

}  // namespace lotus::analyzer::memory_plan
