// A CPU-time timer for each thread of this process, whose signal goes to that thread.
#pragma once

#include <cstdint>

#include "sampling/sample_timer.hpp"

namespace lotus {

// Starts a timer for every thread that has none, and lets go of those of threads that ended. Where one of
// this kind is refused, a kernel timer stands in. One directory listing and a system call a thread: some
// 10 µs. Any thread, one at a time; not in a signal handler.
void arm_threads(const SampleTimer& kind, int signal, std::uint64_t period_ns);

// The same for one thread, of which nothing is known yet. Two system calls.
void arm_thread(int tid, const SampleTimer& kind, int signal, std::uint64_t period_ns);

// Stops all of them.
void disarm_threads();

// In a forked child, which has none.
void forget_timers();

// Why a thread that lives got no timer, last: an errno, EAGAIN also where the limit leaves room for none. 0:
// each got one so far.
struct TimersRefused {
  int error;
  std::uint64_t limit;  // of pending signals, each timer takes one; UINT64_MAX: none
};
TimersRefused timers_refused();

}  // namespace lotus
