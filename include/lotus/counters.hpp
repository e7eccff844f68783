// What LOTUS_COUNTERS may name: counters of the processor and of the kernel, by the names that perf gives
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace lotus {

// Who counts. The first three need no permission and no descriptor: the kernel keeps them for each thread.
// The others are types of perf_event_open(2), by its numbers.
enum class CounterSource : std::uint8_t {
  usage,      // getrusage(RUSAGE_THREAD); code: a UsageCount
  cpu_clock,  // CLOCK_THREAD_CPUTIME_ID, ns
  hardware,   // PERF_TYPE_HARDWARE
  software,   // PERF_TYPE_SOFTWARE
  cache,      // PERF_TYPE_HW_CACHE
  raw,        // PERF_TYPE_RAW: the processor's own number of an event
  leading,    // … of one that is the first of its group
  led,        // … of one that the kernel counts only in the group that the `leading` one is the first of
};

enum class UsageCount : std::uint8_t { faults, minor_faults, major_faults, switches };

constexpr bool needs_perf(CounterSource source) { return source >= CounterSource::hardware; }
constexpr bool is_of_processor(CounterSource source) {
  return needs_perf(source) && source != CounterSource::software;
}

// `type` of perf_event_attr, for sources that need perf.
constexpr std::uint32_t perf_type(CounterSource source) {
  switch (source) {
    case CounterSource::software:
      return 1;
    case CounterSource::cache:
      return 3;
    case CounterSource::raw:
    case CounterSource::leading:
    case CounterSource::led:
      return 4;
    default:
      return 0;
  }
}

struct CounterRow {
  std::string_view name;
  CounterSource source;
  std::uint64_t code;
  std::uint64_t code1 = 0;  // `config1` of perf_event_attr, which some of the processor's events need
};

namespace detail {
constexpr std::uint64_t usage(UsageCount count) { return static_cast<std::uint64_t>(count); }
// Of PERF_TYPE_HW_CACHE: which cache, loads (0), stores (1) or prefetches (2), all of them or those that
// missed.
constexpr std::uint64_t cache(std::uint64_t level, std::uint64_t access, bool missed) {
  return level | access << 8 | std::uint64_t{missed} << 16;
}
}  // namespace detail

// Of names that mean the same the first one is recorded. Page faults and context switches are perf's too, but
// without a permission for the kernel's part perf leaves out what happens inside of system calls: a third of
// the faults of a program that reads into new memory, and all switches.
// clang-format off
inline constexpr CounterRow kCounterRows[] = {
    {"page-faults",             CounterSource::usage,     detail::usage(UsageCount::faults)},
    {"faults",                  CounterSource::usage,     detail::usage(UsageCount::faults)},
    {"minor-faults",            CounterSource::usage,     detail::usage(UsageCount::minor_faults)},
    {"major-faults",            CounterSource::usage,     detail::usage(UsageCount::major_faults)},
    {"context-switches",        CounterSource::usage,     detail::usage(UsageCount::switches)},
    {"cs",                      CounterSource::usage,     detail::usage(UsageCount::switches)},
    {"task-clock",              CounterSource::cpu_clock, 0},
    {"cpu-migrations",          CounterSource::software,  4},
    {"migrations",              CounterSource::software,  4},
    {"alignment-faults",        CounterSource::software,  7},
    {"emulation-faults",        CounterSource::software,  8},
    {"cycles",                  CounterSource::hardware,  0},
    {"cpu-cycles",              CounterSource::hardware,  0},
    {"instructions",            CounterSource::hardware,  1},
    {"cache-references",        CounterSource::hardware,  2},
    {"cache-misses",            CounterSource::hardware,  3},
    {"branches",                CounterSource::hardware,  4},
    {"branch-instructions",     CounterSource::hardware,  4},
    {"branch-misses",           CounterSource::hardware,  5},
    {"bus-cycles",              CounterSource::hardware,  6},
    {"stalled-cycles-frontend", CounterSource::hardware,  7},
    {"stalled-cycles-backend",  CounterSource::hardware,  8},
    {"ref-cycles",              CounterSource::hardware,  9},
    {"L1-dcache-loads",         CounterSource::cache,     detail::cache(0, 0, false)},
    {"L1-dcache-load-misses",   CounterSource::cache,     detail::cache(0, 0, true)},
    {"L1-dcache-stores",        CounterSource::cache,     detail::cache(0, 1, false)},
    {"L1-dcache-store-misses",  CounterSource::cache,     detail::cache(0, 1, true)},
    {"L1-dcache-prefetches",    CounterSource::cache,     detail::cache(0, 2, false)},
    {"L1-icache-loads",         CounterSource::cache,     detail::cache(1, 0, false)},
    {"L1-icache-load-misses",   CounterSource::cache,     detail::cache(1, 0, true)},
    {"LLC-loads",               CounterSource::cache,     detail::cache(2, 0, false)},
    {"LLC-load-misses",         CounterSource::cache,     detail::cache(2, 0, true)},
    {"LLC-stores",              CounterSource::cache,     detail::cache(2, 1, false)},
    {"LLC-store-misses",        CounterSource::cache,     detail::cache(2, 1, true)},
    {"dTLB-loads",              CounterSource::cache,     detail::cache(3, 0, false)},
    {"dTLB-load-misses",        CounterSource::cache,     detail::cache(3, 0, true)},
    {"dTLB-stores",             CounterSource::cache,     detail::cache(3, 1, false)},
    {"dTLB-store-misses",       CounterSource::cache,     detail::cache(3, 1, true)},
    {"iTLB-loads",              CounterSource::cache,     detail::cache(4, 0, false)},
    {"iTLB-load-misses",        CounterSource::cache,     detail::cache(4, 0, true)},
    {"branch-loads",            CounterSource::cache,     detail::cache(5, 0, false)},
    {"branch-load-misses",      CounterSource::cache,     detail::cache(5, 0, true)},
    {"node-loads",              CounterSource::cache,     detail::cache(6, 0, false)},
    {"node-load-misses",        CounterSource::cache,     detail::cache(6, 0, true)},
};

struct CounterSet {
  std::string_view name, counters;
};
inline constexpr CounterSet kCounterSets[] = {
    {"default", "instructions,cycles,cache-references,cache-misses,branch-misses,page-faults,context-switches,"
                "cpu-migrations,task-clock"},
    {"memory",  "instructions,cycles,cache-references,cache-misses,LLC-loads,LLC-load-misses,L1-dcache-loads,"
                "L1-dcache-load-misses,minor-faults,major-faults,task-clock"},
    {"branch",  "instructions,cycles,branches,branch-misses,task-clock"},
    {"tlb",     "instructions,cycles,dTLB-loads,dTLB-load-misses,iTLB-load-misses,page-faults,task-clock"},
    {"topdown", "instructions,cycles,page-faults,task-clock"},  // and the processor's own: topdown.hpp
};
// clang-format on

inline constexpr std::size_t kMaxCounters = 16;  // of one run

// The row of a name, with the name that is recorded for it; its name is empty if there is none. `r` and up to
// 16 hexadecimal digits are the processor's own number of an event.
constexpr CounterRow counter_named(std::string_view name) {
  for (const CounterRow& row : kCounterRows) {
    if (row.name != name) continue;
    for (const CounterRow& first : kCounterRows)
      if (first.source == row.source && first.code == row.code) return first;
  }
  if (name.size() < 2 || name.size() > 17 || name[0] != 'r') return {};
  CounterRow raw{name, CounterSource::raw, 0};
  for (std::size_t i = 1; i < name.size(); ++i) {
    const char c = name[i];
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return {};
    raw.code = raw.code << 4 | static_cast<std::uint64_t>(digit);
  }
  return raw;
}

namespace detail {
constexpr bool sets_are_sound() {
  for (const CounterSet& set : kCounterSets) {
    std::size_t count = 1;
    for (std::string_view rest = set.counters;; ++count) {
      const std::string_view name = rest.substr(0, rest.find(','));
      if (counter_named(name).name != name || count > kMaxCounters) return false;
      if (name.size() == rest.size()) break;
      rest.remove_prefix(name.size() + 1);
    }
  }
  return true;
}
}  // namespace detail
static_assert(detail::sets_are_sound(), "sets name counters by the names that are recorded");

}  // namespace lotus
