#include "html/flames.hpp"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

namespace lotus::analyzer {

void Flames::add(const Trace& trace, const Profile& profile) {
  StackNames names(trace.stacks, frames_);
  for (const auto& [key, op] : profile.ops()) {
    if (key.outside() || op.stacks.empty()) continue;
    Tree& tree = trees_[key];
    if (tree.empty()) tree.emplace_back();
    for (const auto& [stack, tally] : op.stacks) {
      const std::vector<FrameId> frames = names.frames_of(stack);
      if (owner_of(frames, frames_).part == Part::tracer) continue;
      std::uint32_t at = 0;
      tree[at].ns += tally.cpu_ns;
      for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
        const Part part = frames_[*frame].part;
        if (part == Part::tracer || part == Part::interpreter) continue;
        const auto next = static_cast<std::uint32_t>(tree.size());
        const auto [slot, fresh] = tree[at].children.try_emplace(*frame, next);
        at = slot->second;
        if (fresh) tree.emplace_back();
        tree[at].ns += tally.cpu_ns;
      }
    }
  }
}

nlohmann::ordered_json Flames::json() const {
  nlohmann::ordered_json json = {{"frames", nlohmann::ordered_json::array()},
                                 {"ops", nlohmann::ordered_json::array()}};
  std::unordered_map<FrameId, std::size_t> ids;
  const auto id_of = [&](FrameId frame) {
    const auto [slot, fresh] = ids.try_emplace(frame, ids.size());
    if (fresh) {
      const NamedFrame& named = frames_[frame];
      json["frames"].push_back({named.name, named.library, static_cast<int>(named.part)});
    }
    return slot->second;
  };
  for (const auto& [key, tree] : trees_) {
    auto numbers = nlohmann::ordered_json::array();
    const std::function<void(const Node&, int)> put = [&](const Node& node, int depth) {
      std::vector<std::pair<FrameId, const Node*>> children;
      for (const auto& [frame, place] : node.children)
        if (tree[place].ns >= kSmallest * tree[0].ns) children.emplace_back(frame, &tree[place]);
      std::sort(children.begin(), children.end(), [](const auto& a, const auto& b) {
        return a.second->ns != b.second->ns ? a.second->ns > b.second->ns : a.first < b.first;
      });
      for (const auto& [frame, child] : children) {
        for (const std::int64_t number : {std::int64_t{depth}, static_cast<std::int64_t>(id_of(frame)),
                                          static_cast<std::int64_t>(child->ns / 1000)})
          numbers.push_back(number);
        put(*child, depth + 1);
      }
    };
    put(tree[0], 0);
    json["ops"].push_back({{"name", key.name},
                           {"qualified", key.qualified},
                           {"us", static_cast<std::int64_t>(tree[0].ns / 1000)},
                           {"tree", std::move(numbers)}});
  }
  return json;
}

}  // namespace lotus::analyzer
