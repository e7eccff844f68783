// What an activation is known to have done, as the instructions that it visited in order.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "answers/controlflow/code_flow.hpp"
#include "answers/controlflow/region.hpp"

namespace lotus::analyzer::controlflow {

struct Visit {
  std::size_t instruction = 0;
  std::size_t first = 0,
              last = 0;         // of the activation's events; events without an offset belong to those before
  bool told_by_period = false;  // several events of one instruction were parted by how they repeat, which
                                // need not be by visits
};

// An instruction may cause several events, as x[1:2, 3] does: they are one visit, unless a loop leads back to
// it and nothing else is seen there; then they are parted where they begin to repeat.
std::vector<Visit> visits_of(const Region& region, const Activation& activation, const CodeFlow& flow);

}  // namespace lotus::analyzer::controlflow
