// Gives the sampled locations of a trace their names.
#pragma once

#include "log.hpp"
#include "stacks/process_stacks.hpp"

namespace lotus::collector {

// Names every location of `stacks` that has none yet. One binary after the other, so that the symbols of
// one are in memory at a time. Shows on a terminal how far it is.
void name_locations(Stacks& stacks, Log& log);

}  // namespace lotus::collector
