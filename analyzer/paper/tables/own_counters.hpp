// Counters that a trace was recorded with, as those of a profiler's table are.
#pragma once

#include <vector>

#include "answers/counters/functions.hpp"
#include "paper/split/split.hpp"

namespace lotus::analyzer {

// Appends those that counted anything; first those that say most of where a processor loses time. By native
// functions as stack samples carried them; by operation as their calls were measured, in which nested
// operations are part of those around them, and where no call was measured by samples, too.
void add_own_counters(std::vector<CounterSplit>& counters, const FunctionCounts& sampled,
                      const CounterFindings& measured);

// Whether a counter of that name is only another form of CPU time.
bool is_own_time(const std::string& name);

}  // namespace lotus::analyzer
