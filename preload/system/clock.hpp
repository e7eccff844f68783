// The traced process's clocks. Ticks: include/lotus/clock.hpp.
#pragma once

#include <time.h>

#include <cstdint>
#include <lotus/clock.hpp>

#include "system/hot.hpp"

namespace lotus {

LOTUS_DIRECT extern ClockSource clock_source;

inline std::uint64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// Inlined: a JPEG is read line by line, and each line is timed.
[[gnu::always_inline]] inline std::uint64_t ticks_now() {
  if (kHasCounter && clock_source == ClockSource::tsc) [[likely]]
    return read_counter() >> kTickShift;
  return clock_ns(CLOCK_MONOTONIC) >> kTickShift;
}

// CPU time of the calling thread, ns. A system call: about 0.4 µs.
inline std::uint64_t cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

// How long the calling thread has waited for a core so far although it could have run, ns; UINT64_MAX: the
// kernel does not say. Reads a file of /proc: about 4 µs.
std::uint64_t core_wait_ns();

// CPU time of all threads of the process, ns. A system call.
inline std::uint64_t process_cpu_ns() { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

// Decides clock_source. The counter must be the kernel's own choice, a TSC invariant, and aarch64's no slower
// to read than clock_gettime(): where the kernel distrusts it, so do we, and the log says so.
void choose_clock();

ClockPair clock_pair();

// Ticks per second, as seen since choose_clock(): good to about a per mille. Not for converting times.
std::uint64_t ticks_per_second();

}  // namespace lotus
