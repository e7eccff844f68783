// A cache for the tree of stacks: for each node, the child that was looked up last. The nodes of a stack were
// mostly added one after the other, so a stack that comes again is found in adjacent cache lines; in a hash
// table its nodes are scattered over memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stacks/binaries.hpp"

namespace lotus::collector {

// Number of a stack and of its node; 0: the stack without frames.
using StackId = std::uint32_t;

class RecentChildren {
 public:
  // Forgets all. The next node that is added has the number `last` + 1; earlier nodes are not cached.
  void begin_behind(StackId last) {
    first_ = last;
    nodes_.assign(1, {});
  }

  void add(LocationId location) { nodes_.push_back({location, 0}); }

  // 0: another child was looked up last, or the parent is not cached.
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
