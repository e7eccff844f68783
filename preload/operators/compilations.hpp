// What torch.compile says of itself: which functions it compiled, why again, what their calls check, and
// where its graphs break.
#pragma once

#include <cstdint>

#include "operators/step_lane.hpp"

namespace lotus {

// Tells what is new since the last time. `region`: 1 + the number of the region or step that has just ended;
// 0: what is new was not in any. In the main thread, in a Python call, with the GIL; calls no Python code of
// the program's.
void tell_compilations(std::uint64_t region);

// While a function is compiled, nothing is recorded: the compiler's own calls and operators, a hundred
// thousand for a small model, are none of the region's. Their time is.
class CompilingScope {
 public:
  CompilingScope();
  ~CompilingScope();
  CompilingScope(const CompilingScope&) = delete;
  CompilingScope& operator=(const CompilingScope&) = delete;

 private:
  bool paused_, sees_calls_;
  std::uint32_t generation_;
};

}  // namespace lotus
