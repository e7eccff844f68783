// What Lotus' frame evaluator adds to Python calls: how many it has seen, and what one costs here.
//
// CPython itself is slower beside a frame evaluator (from 3.11 it no longer runs a called function in its
// caller's loop), which is most of the cost and depends on version and machine. So it is measured, once in a
// process.
#pragma once

#include <cstdint>

#include "python/python_thread.hpp"
#include "system/hot.hpp"

namespace lotus {

// Of one call, in picoseconds; 0: not measured.
struct CallCosts {
  std::uint64_t outside_ps = 0;  // of a pipeline
  std::uint64_t inside_ps = 0;
};
LOTUS_DIRECT extern constinit CallCosts call_costs;

// Calls below a span whose cost is not worth a record of its own.
inline constexpr std::uint32_t kFewCalls = 64;

// Records the calls inside the pipeline since the last time, before the innermost open span ends.
void tell_calls_inside();
inline void tell_calls_before_end() {
  if (python_thread.calls_inside >= kFewCalls) [[unlikely]]
    tell_calls_inside();
}

// Calls before the trace began are no part of the time that it measures.
void forget_calls_before();

// Records the thread's other calls, at the end of a batch.
void tell_calls_outside();

}  // namespace lotus
