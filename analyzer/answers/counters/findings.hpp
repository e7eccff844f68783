// What counters counted in the operations of traces, and in the fetches of their batches.
#pragma once

#include <cstdint>
#include <lotus/topdown.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "answers/stacks/profile.hpp"
#include "answers/stats/block_mean.hpp"
#include "answers/stats/sampled_total.hpp"

namespace lotus::analyzer {

// One counter in the calls of one operation.
struct CounterTotals {
  MeasuredByDuration measured{};
  MeasuredCalls first;               // of processes
  BlockMean blocks;                  // measured calls but those, a block for each batch
  double enabled_ns = 0, on_ns = 0;  // how long measured calls ran, and the counter with them

  void add(const CounterTotals& other);
  double on_percent() const { return enabled_ns > 0 ? 100 * on_ns / enabled_ns : 100; }
};

struct CountedCalls {
  std::uint64_t calls = 0;
  double wall_ns = 0;
  CallsByDuration by_duration{};  // but for the first of each process, where that was measured
  std::map<std::string, CounterTotals> counters;  // by perf's name

  // None: no call was measured with this counter.
  std::optional<SampledTotal> total(const std::string& counter) const;

  // What a call counts, the first one of each process left out. Where total() tells of the calls of this run,
  // this is for the comparison with another one: its error holds also how much batches differ, and is not
  // less than that of a Poisson count. None: no such call was measured.
  std::optional<Estimate> per_call(const std::string& counter) const;

  void add(const CountedCalls& other);
};

// How a counter was counted in all processes that wanted it.
struct CounterState {
  bool user_only = false;
  std::set<std::uint64_t> errors;  // why it was not, in some or all
};

struct CounterFindings {
  std::vector<std::string> files;
  std::map<std::string, CounterState> counters;
  std::map<OpKey, CountedCalls> ops;  // nested operations are part of those around them
  CountedCalls fetches;
  // Of the processors that all of it ran on; nullptr: not known, or they differ.
  const TopdownModel* topdown = nullptr;
  std::set<std::string> processors;  // "GenuineIntel family 6 model 0x8f"
};

}  // namespace lotus::analyzer
