// ns for reading the counters of LOTUS_COUNTERS once, as where an operation begins or ends; and for reading
// one counter of the processor without the kernel, all but the instruction that reads it, which a machine
// without such counters does not have.
//
//   bench-counts [SET]...      default: each set that has a name
#include <algorithm>
#include <cstdio>

#include "counters/perf_events.hpp"
#include "counters/wanted.hpp"
#include "system/clock.hpp"

namespace {

double ns_per_read() {
  constexpr int kReads = 10'000, kRounds = 20;
  lotus::ThreadEvents events{};
  lotus::Counts counts{};
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t begin = lotus::clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < kReads; ++i) lotus::read_counts(events, 1, lotus::Edge::begin, counts);
    best = std::min(best, static_cast<double>(lotus::clock_ns(CLOCK_MONOTONIC) - begin) / kReads);
  }
  lotus::close_events(events);
  return best;
}

bool show(const char* counters) {
  if (lotus::want_counters(counters) != nullptr) return false;
  lotus::try_counters();
  int refused = 0;
  for (std::size_t i = 0; i < lotus::wanted_counters.count; ++i)
    refused += lotus::wanted_counters.of[i].error != 0;
  std::printf("%-30s %2zu counters, %d refused: %7.0f ns\n", counters, lotus::wanted_counters.count, refused,
              ns_per_read());
  return true;
}

// Of an event that is off the processor just now.
void show_page() {
  constexpr int kReads = 10'000, kRounds = 20;
  lotus::EventPage page{};
  page.capabilities = lotus::kMayReadCounter | lotus::kMayReadTime;
  page.time_mult = 1;
  const lotus::ProcessorCounters processor{lotus::counter_of_processor, lotus::time_of_processor};
  lotus::PageRead read{};
  std::uint64_t sum = 0;
  double ns = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t begin = lotus::clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < kReads; ++i) sum += lotus::read_page(page, processor, read) ? read.enabled : 0;
    ns = std::min(ns, static_cast<double>(lotus::clock_ns(CLOCK_MONOTONIC) - begin) / kReads);
  }
  if (sum != 0) std::printf("%-30s 1 counter, without its instruction: %4.0f ns\n", "page of an event", ns);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const sets[] = {"default",    "memory",        "branch", "tlb", "page-faults,context-switches",
                              "task-clock", "cpu-migrations"};
  bool known = true;
  if (argc == 1)
    for (const char* set : sets) known = show(set) && known;
  for (int i = 1; i < argc; ++i) known = show(argv[i]) && known;
  show_page();
  return known ? 0 : 2;
}
