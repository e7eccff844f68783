// A CPU-time timer for each thread of this process, whose signal goes to that thread.
//
// Kernel timers on the thread's CPU clock: they need no descriptor and no permission, are not inherited by
// children, and do not run while a thread sleeps. They go off at the kernel's tick, so at most HZ (mostly
// 250) times a second; what passes in between is told as the overrun of the next signal.
#pragma once

#include <signal.h>

#include <cstdint>

namespace lotus {

// Arms a timer for every thread that has none, and lets go of those of threads that ended. One
// directory listing and a system call a thread: some 10 µs. Any thread, one at a time; not in a signal
// handler.
void arm_threads(int signal, std::uint64_t period_ns);

// Whether a signal comes from one of them.
bool is_of_timers(const siginfo_t& info);

// Stops all of them.
void disarm_threads();

// In a forked child, which has none.
void forget_timers();

}  // namespace lotus
