// Finds the loops, branches and recursions of a region.
#pragma once

#include "answers/controlflow/construct.hpp"

namespace lotus::analyzer::controlflow {

// Adds those of one region.
void add_constructs(const Region& region, const Codes& codes, const DataFlow& flow, const Times& times,
                    Constructs& constructs);

}  // namespace lotus::analyzer::controlflow
