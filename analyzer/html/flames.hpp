// The sampled stacks of each operation as trees: what a flame graph draws. As in the map, samples of the
// tracer are left out and what the interpreter does belongs to the Python function that runs: its frames are
// passed over.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <unordered_map>
#include <vector>

#include "stacks/frame_table.hpp"
#include "stacks/profile.hpp"
#include "trace/trace.hpp"

namespace lotus::analyzer {

class Flames {
 public:
  // Parts below this share of their operation's CPU time are not drawn.
  static constexpr double kSmallest = 0.001;

  // `profile` has visited `trace`.
  void add(const Trace& trace, const Profile& profile);

  // {"frames": [[name, library, part]], "ops": [{"name", "qualified", "tree": [depth, frame, µs, …]}]}: each
  // tree in preorder, three numbers a node; µs: of the node and all below it.
  nlohmann::ordered_json json() const;

 private:
  struct Node {
    double ns = 0;
    std::unordered_map<FrameId, std::uint32_t> children;  // positions in Tree
  };
  using Tree = std::vector<Node>;  // the first one is the root

  FrameTable frames_;
  std::map<OpKey, Tree> trees_;
};

}  // namespace lotus::analyzer
