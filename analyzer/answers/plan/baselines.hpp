// Placements by simple rules, with which plans are compared.
#pragma once

#include "answers/plan/placement.hpp"

namespace lotus::analyzer::memory_plan {

// AutoTM's "numa": a storage comes to fast memory if it fits there when it is first touched, found by best
// fit in one pool of addresses; else it lies in slow memory. It stays there all its life. The pool is what no
// plan gives at any moment. The collapsed problem's placement.
Placement first_touch(const Problem& problem, std::int64_t limit_pages);

// Begins with all in fast memory. Wherever that is too much, what idles there leaves for the gap between its
// uses: first what has the most bytes × idle seconds for a second of its moves. Where nothing idles, what
// costs least a page stays in slow memory. `seconds`: of the operators, by moment.
Placement greedy(const Problem& problem, const std::vector<double>& seconds, std::int64_t limit_pages);

// What fills up room that a placement leaves, at the least cost: each storage in turn is placed anew beside
// the others, until nothing gets better. Never worse than `placement`, which keeps to the limit.
void improve(const Problem& problem, std::int64_t limit_pages, Placement& placement);

}  // namespace lotus::analyzer::memory_plan
