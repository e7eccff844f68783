// A step as a problem of placing storages in two memories.
//
// Time is counted in moments: moment k is operator k, and one more moment after the last operator is the end
// of the step. A storage's life is a row of segments, in each of which it stays where it is: one for each
// operator that uses it, one for each gap between two uses. It moves between segments only, on the critical
// path, so moving out right after a use and in right before one is as good as any other time (AutoTM's
// synchronous formulation). The static formulation is the same problem with one segment a storage
// (collapsed()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "answers/memory/step.hpp"
#include "answers/plan/costs.hpp"

namespace lotus::analyzer::memory_plan {

using memory::Floor;
using memory::kPage;
using memory::pages_of;
using memory::persistent;
using memory::whole_pages;

struct Segment {
  std::size_t first = 0, last = 0;  // moments, both included
  bool use = false;         // a storage may come to fast memory right before it, and leave right after
  bool written = false;     // a copy of it in slow memory is no longer valid afterwards
  double slow_seconds = 0;  // what it costs to be in slow memory there
};

// A storage that the plan may place.
struct Item {
  std::size_t storage = 0;
  std::int64_t pages = 0;
  double in_seconds = 0, out_seconds = 0;  // a move to fast, and to slow memory
  bool cyclic = false;                     // it ends where it began: the next step finds it there
  std::vector<Segment> segments;           // at least one
};

struct Problem {
  double base_seconds = 0;          // all operators with all storages in fast memory
  std::size_t moments = 0;          // operators and the end
  std::vector<std::int64_t> taken;  // pages of fast memory that are no plan's to give, by moment
  std::vector<Item> items;

  // Seconds with everything that may be placed in slow memory.
  double all_slow_seconds() const;
  // Pages that storages and workspaces take together, by moment.
  std::vector<std::int64_t> needed() const;
};

struct Rules {
  Tier tier;
  KernelTable kernels;
  bool persistent_fast = false;  // what is older than the step and survives it stays in fast memory
};

// `step` must be whole: see check(). Storages without bytes are left out.
Problem problem_of(const memory::Step& step, const Rules& rules);

// The same with one segment for each storage's whole life.
Problem collapsed(const Problem& problem);

inline Floor floor_of(const memory::Step& step, const Rules& rules) {
  return memory::floor_of(step, rules.persistent_fast);
}

// The most that is live at once, in whole pages.
std::uint64_t peak_bytes(const memory::Step& step);

}  // namespace lotus::analyzer::memory_plan
