// Of each node in the tree of stacks, which child was asked for last. The nodes of a stack were mostly added
// one after the other: where it comes again, its way inwards is here from one cache line to the next, and in
// a hash table all over memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stacks/binaries.hpp"

namespace lotus::collector {

// Number of a stack and of its node, 0 for that of no frame.
using StackId = std::uint32_t;

class RecentChildren {
 public:
  // Forgets all. Nodes that are added have the numbers behind `last`; of those before it nothing is known.
  void begin_behind(StackId last) {
    first_ = last;
    nodes_.assign(1, {});
  }

  void add(LocationId location) { nodes_.push_back({location, 0}); }

  // 0: the one that was asked for last is another, or it is not known.
  StackId find(StackId parent, LocationId location) const {
    if (!known(parent)) return 0;
    const StackId child = nodes_[place_of(parent)].child;
    return known(child) && nodes_[place_of(child)].location == location ? child : 0;
  }

  void asked_for(StackId parent, StackId child) {
    if (known(parent)) nodes_[place_of(parent)].child = child;
  }

 private:
  struct Node {
    LocationId location = 0;
    StackId child = 0;
  };
  std::uint32_t place_of(StackId stack) const { return stack - first_; }
  bool known(StackId stack) const { return place_of(stack) < nodes_.size(); }

  StackId first_ = 0;
  std::vector<Node> nodes_{1};  // by number, from first_ on
};

}  // namespace lotus::collector
