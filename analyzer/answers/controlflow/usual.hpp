// Which of the recorded calls tell of a usual one, and what recording them took.
#pragma once

#include <cstdint>
#include <vector>

#include "answers/controlflow/region.hpp"

namespace lotus::analyzer::controlflow {

using Group = std::vector<const Region*>;

// In ns, by the clock.
double wall_ns(const Region& region);

// In which its thread did not compute; 0: not known.
double waited_ns(const Region& region);

double median(std::vector<double> values);

// The whole calls; without the first of a run, others of the first few that did what none did later, and
// those in which something was compiled, where there are others. Empty: none is whole.
Group eligible(const Group& recorded);

// Half of these, if there are three and more. Calls that did the same are halved among themselves, so that
// each kind keeps its share: those go in which the thread waited, if it did in fewer than half of them, then
// the longest and the shortest. `whole`: eligible ones.
Group usual(const Group& whole);

// By how much more recording the eligible calls took than the recorder said, where others were only timed: by
// what those took less. Both are of all kinds.
double recording_factor(const Group& whole, const Group& timed);

}  // namespace lotus::analyzer::controlflow
