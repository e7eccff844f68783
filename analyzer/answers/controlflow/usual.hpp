// Which of the recorded calls tell of a usual one, and what recording them took.
#pragma once

#include <cstdint>
#include <vector>

#include "answers/controlflow/region.hpp"

namespace lotus::analyzer::controlflow {

using Group = std::vector<const Region*>;

// In ns, by the clock.
double wall_ns(const Region& region);

double median(std::vector<double> values);

// Half of the whole calls, if there are three and more; the first of a run, others of the first few that did
// what none did later, and those in which something was compiled, are left out where there are others. Calls
// that did the same are halved among themselves, so that each kind keeps its share: those go in which the
// thread waited, if it did in fewer than half of them, then the longest and the shortest. Where none is
// whole, all.
Group usual(const Group& recorded);

// By how much more recording the calls took than the recorder said, where others were only timed: by what
// those took less. Both are of all kinds.
double recording_factor(const Group& recorded, const Group& timed);

}  // namespace lotus::analyzer::controlflow
