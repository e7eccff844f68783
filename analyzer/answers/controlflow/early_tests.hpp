// Tests in a loop that might be before it: they read a tensor that nothing in the loop computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "answers/controlflow/code_flow.hpp"
#include "answers/controlflow/data_flow.hpp"

namespace lotus::analyzer::controlflow {

// Is told of one activation after the other where its loops begin anew.
class EarlyTests {
 public:
  EarlyTests(const Region& region, const DataFlow& flow) : region_(region), flow_(flow) {}

  void begin(const CodeFlow& code) { loops_.assign(code.loops().size(), {}); }
  // `ticks`: what begins later is in it.
  void step(std::size_t loop, const LoopStep& step, std::uint64_t ticks);
  // Of a test in this loop, or kNone, that waits for what this operator extracts: what leads to it since the
  // loop began are few operators of one iteration. False also where that is not known.
  bool is_early(std::size_t loop, std::size_t extraction) const;

 private:
  struct Begun {
    std::uint64_t loop = 0, iteration = 0;  // ticks
  };
  const Region& region_;
  const DataFlow& flow_;
  std::vector<Begun> loops_;
};

}  // namespace lotus::analyzer::controlflow
