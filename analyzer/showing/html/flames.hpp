// The sampled stacks of each operation as trees: what a flame graph on the page draws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "answers/stacks/flame.hpp"

namespace lotus::analyzer {

// Parts below this share of their operation's CPU time are not drawn.
inline constexpr double kSmallestFlame = 0.001;

// {"frames": [[name, library, part]], "ops": [{"name", "us", "tree": [depth, frame, µs, …]}]}: each tree in
// preorder, three numbers a node; µs: CPU time of the node and all below it.
nlohmann::ordered_json flames_json(const std::vector<FlameOp>& ops, const FrameTable& frames);

}  // namespace lotus::analyzer
