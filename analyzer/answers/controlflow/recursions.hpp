// Which functions of a region call themselves, and what is counted of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "answers/controlflow/codes.hpp"
#include "answers/controlflow/construct.hpp"

namespace lotus::analyzer::controlflow {

class Recursions {
 public:
  Recursions(const Region& region, const Codes& codes);

  bool contains(std::uint64_t code) const { return codes_.contains(code); }
  static ConstructKey key(std::uint64_t code) { return {ConstructKind::recursion, code, 0}; }
  // Time in an activation, to the innermost recursion that it is in, if any.
  void add_by_depth(std::size_t activation, const Parts& parts, Constructs& constructs) const;
  void count(Constructs& constructs) const;

 private:
  const Region& region_;
  std::vector<std::size_t> depths_;  // by activation: calls of its code that are open with it
  std::set<std::uint64_t> codes_;
};

}  // namespace lotus::analyzer::controlflow
