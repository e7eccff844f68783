#include "showing/html/flames.hpp"
#include "text/units.hpp"

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

struct Node {
  FrameId frame = 0;
  std::size_t depth = 0;
  double ns = 0;
};

// The tree of an operation's stacks in preorder: sorted stacks share what their starts have in common.
std::vector<Node> tree_of(const FlameOp& op) {
  std::vector<Node> tree;
  std::vector<std::size_t> path;  // positions in the tree, of the stack before
  for (const FlameStack& stack : op.stacks) {
    std::size_t common = 0;
    while (common < path.size() && common < stack.frames.size() &&
           tree[path[common]].frame == stack.frames[common])
      ++common;
    path.resize(common);
    for (std::size_t depth = common; depth < stack.frames.size(); ++depth) {
      path.push_back(tree.size());
      tree.push_back({stack.frames[depth], depth, 0});
    }
    for (const std::size_t at : path) tree[at].ns += stack.ns;
  }
  return tree;
}

}  // namespace

Json flames_json(const std::vector<FlameOp>& ops, const FrameTable& frames) {
  Json json = {{"frames", Json::array()}, {"ops", Json::array()}};
  std::unordered_map<FrameId, std::size_t> ids;
  const auto id_of = [&](FrameId frame) {
    const auto [slot, fresh] = ids.try_emplace(frame, ids.size());
    const NamedFrame& named = frames[frame];
    if (fresh) json["frames"].push_back({named.name, named.library, static_cast<int>(named.part)});
    return slot->second;
  };
  for (const FlameOp& op : ops) {
    Json numbers = Json::array();
    for (const Node& node : tree_of(op)) {
      if (node.ns < kSmallestFlame * op.ns) continue;  // all below it is smaller still
      numbers.push_back(node.depth);
      numbers.push_back(id_of(node.frame));
      numbers.push_back(std::llround(node.ns / kNsPerUs));
    }
    json["ops"].push_back(
        {{"name", op.name}, {"us", std::llround(op.ns / kNsPerUs)}, {"tree", std::move(numbers)}});
  }
  return json;
}

}  // namespace lotus::analyzer
