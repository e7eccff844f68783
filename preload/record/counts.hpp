// Counters of an operation or a fetch: what they said where it began and where it ended.
#pragma once

#include <lotus/snapshot.hpp>

#include "counters/wanted.hpp"
#include "record/chunk.hpp"

namespace lotus {

// Reads the counters for the span that is open, or that this thread opens next, at `depth`.
void begin_counts(const Thread& thread, std::uint32_t depth);

// The innermost open span ends here: before any other call of the kernel, which likes to run something else
// where it returns. Then write_counts() records what it counted since begin_counts() of its depth.
void end_counts(const Thread& thread);
void write_counts(Thread& thread, std::uint64_t now);

// Counters since the thread's last sample with counts.
struct CountsSince {
  std::uint32_t count;
  SnapshotCount of[kMaxCounters];
};

// For the sampler's signal handler, on `thread`. False: nothing was counted in it so far, or the signal came
// while its counters were being read; the next sample has what is left out here.
bool counts_since_sample(const Thread& thread, CountsSince& since);

// In a forked child: the parent's events are not ours.
void forget_counts();

}  // namespace lotus
