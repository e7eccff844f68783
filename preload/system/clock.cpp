#include "system/clock.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "system/files.hpp"
#include "system/hot.hpp"
#include "system/log.hpp"

namespace lotus {

LOTUS_HOT constinit ClockSource clock_source = ClockSource::monotonic;

namespace {
// Of a clock that nobody sets.
struct Steady {
  std::uint64_t ticks, ns;
};
constinit Steady first{};
constexpr std::uint64_t kAssumedTicksPerSecond = 2'500'000'000u >> kTickShift;

// Where the kernel works around an erratum, it steps in at each read of the counter.
[[maybe_unused]] bool counter_is_slow() {
  constexpr int kReads = 64;
  const std::uint64_t start = clock_ns(CLOCK_MONOTONIC);
  for (int i = 0; i < kReads; ++i) read_counter();
  const std::uint64_t middle = clock_ns(CLOCK_MONOTONIC);
  for (int i = 0; i < kReads; ++i) clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t end = clock_ns(CLOCK_MONOTONIC);
  return middle - start > 2 * (end - middle);
}

Steady steady() { return {ticks_now(), clock_ns(CLOCK_MONOTONIC)}; }
}  // namespace

ClockPair clock_pair() {
  // The tightest of a few brackets: an interruption between the reads would skew the pair.
  ClockPair best;
  std::uint64_t width = ~std::uint64_t{0};
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = ticks_now();
    const std::uint64_t realtime = clock_ns(CLOCK_REALTIME);
    const std::uint64_t after = ticks_now();
    if (after - before >= width) continue;
    width = after - before;
    best = {before + width / 2, realtime};
  }
  return best;
}

std::uint64_t core_wait_ns() {
  const int saved = errno;
  char text[96];  // time on a core, run delay, time slices
  read_file("/proc/thread-self/schedstat", text, sizeof text);
  errno = saved;
  const char* second = std::strchr(text, ' ');
  return second != nullptr ? std::strtoull(second, nullptr, 10) : UINT64_MAX;
}

void choose_clock() {
  [[maybe_unused]] char text[64];
  read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", text, sizeof text);
#if defined(__x86_64__)
  // kvm-clock is the TSC scaled by the host; the flag says whether the TSC itself can be relied upon.
  char info[4096];
  read_file("/proc/cpuinfo", info, sizeof info);
  const bool invariant =
      std::strstr(info, " constant_tsc") != nullptr && std::strstr(info, " nonstop_tsc") != nullptr;
  const bool trusted = std::strncmp(text, "tsc", 3) == 0 || std::strncmp(text, "kvm-clock", 9) == 0;
  if (invariant && trusted) clock_source = ClockSource::tsc;
#elif defined(__aarch64__)
  const bool trusted = std::strncmp(text, "arch_sys_counter", 16) == 0 && counter_frequency() != 0;
  if (trusted && !counter_is_slow()) clock_source = ClockSource::tsc;
#endif
  if (clock_source == ClockSource::monotonic)
    note("the processor's counter cannot be relied upon here: times come from clock_gettime()");
  first = steady();
}

std::uint64_t ticks_per_second() {
  if (clock_source == ClockSource::monotonic) return 1'000'000'000u >> kTickShift;
#if defined(__aarch64__)
  return counter_frequency() >> kTickShift;
#endif
  const Steady now = steady();
  const std::uint64_t elapsed_ns = now.ns - first.ns;
  if (elapsed_ns < 1'000'000) return kAssumedTicksPerSecond;
  return static_cast<std::uint64_t>(static_cast<double>(now.ticks - first.ticks) * 1e9 /
                                    static_cast<double>(elapsed_ns));
}

}  // namespace lotus
