// Steps for the tests of plans.
#pragma once

#include <random>

#include "answers/memory/step.hpp"

namespace lotus::analyzer::test {

// A few operators and storages at random, of all kinds: older ones, ones that survive, ones changed in place,
// ones that nothing uses.
memory::Step tiny_step(std::mt19937& random);

// A training step of a chain of layers: forward, backward in the opposite order, an optimizer that changes
// the weights in place. 7 operators a layer.
memory::Step training_step(std::size_t layers, std::mt19937& random);

// Fills in `uses` from the operands.
void fill_uses(memory::Step& step);

}  // namespace lotus::analyzer::test
