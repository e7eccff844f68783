// Where a thread has time to look after the trace.
#pragma once

#include "record/chunk.hpp"
#include "sampling/sampler.hpp"
#include "system/clock.hpp"

namespace lotus {

// Called where a batch ends: hands the open chunk on if it is older than a second, and looks for new threads.
inline void end_batch(Thread& thread) {
  poll_sampler(ticks_now());
  flush_old(thread);
}

// Called where a thread comes to rest: an epoch is over, no task came for seconds.
inline void rest(Thread& thread) {
  const std::uint64_t now = ticks_now();
  poll_sampler(now);
  flush_at_rest(thread, now);
}

}  // namespace lotus
