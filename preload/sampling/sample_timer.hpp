// What sends a thread a signal whenever it has used a period of CPU time: one of two kinds.
#pragma once

#include <signal.h>

#include <cstdint>

namespace lotus {

struct SampleTimer {
  // A handle of the timer of a thread of this process; 0 if it is refused.
  std::uintptr_t (*start)(int tid, int signal, std::uint64_t period_ns);
  void (*stop)(std::uintptr_t timer);
  bool (*runs)(std::uintptr_t timer);   // false: its thread ended, another may have its number
  bool (*sent)(const siginfo_t& info);  // the signal is from such a timer
  // In the handler: how many periods have passed in this thread since the last signal, at least 1.
  std::uint32_t (*periods)(const siginfo_t& info, std::uint64_t period_ns);
};

// Kernel timers (timer_create): they need no permission. They go off at the kernel's tick, so at most HZ
// (mostly 250) times a second; what passes in between is told as the overrun of the next signal.
extern const SampleTimer kCpuTimer;

// perf's software cpu-clock: goes off anywhere between ticks, up to any rate, where perf_event_open is
// permitted (root; kernel.perf_event_paranoid 2 and below; seldom in a container). Not inside the kernel: of
// 40,000 system calls that wait, 182 ended early by EINTR. Kernel time counts for the next signal instead, so
// that an operation with many page faults lost up to 80 % of its time to its neighbours, where timers were
// right within their noise: they are the default. Needs a signal below SIGRTMIN: what a thread blocks must
// not queue up, since the kernel sends the deadly SIGIO once its queue is full.
extern const SampleTimer kPerfTimer;

// Whether perf's timer may be had, tried out on the calling thread.
bool perf_timer_is_permitted();

}  // namespace lotus
