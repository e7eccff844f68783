// Time in a trace. A tick is 2^shift cycles of the processor's counter (x86-64: the TSC; aarch64: the generic
// timer's CNTVCT_EL0), or 2^shift ns of CLOCK_MONOTONIC where the counter cannot be relied upon. Calibration
// pairs tie ticks to the realtime clock; the first and the last pair of a session give the rate.
#pragma once

#include <cstdint>

namespace lotus {

// `tsc`: the processor's counter, whatever its name.
enum class ClockSource : std::uint32_t { tsc = 0, monotonic = 1 };

#if defined(__x86_64__)
inline constexpr bool kHasCounter = true;
inline constexpr std::uint32_t kTickShift = 4;  // 5 to 8 ns with a TSC of 2 to 3 GHz, 16 ns otherwise
[[gnu::always_inline]] inline std::uint64_t read_counter() { return __builtin_ia32_rdtsc(); }
#elif defined(__aarch64__)
inline constexpr bool kHasCounter = true;
inline constexpr std::uint32_t kTickShift =
    0;  // 1 ns with the 1 GHz of Armv8.6, 8 to 41 ns with earlier ones
[[gnu::always_inline]] inline std::uint64_t read_counter() {
  std::uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
}
// Hz, as the firmware tells.
inline std::uint64_t counter_frequency() {
  std::uint64_t frequency = 0;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  return frequency;
}
#else
inline constexpr bool kHasCounter = false;
inline constexpr std::uint32_t kTickShift = 4;  // 16 ns
inline std::uint64_t read_counter() { return 0; }
#endif

struct ClockPair {
  std::uint64_t ticks = 0;
  std::uint64_t realtime_ns = 0;  // CLOCK_REALTIME
};
static_assert(sizeof(ClockPair) == 16);

}  // namespace lotus
