// What counters counted in the operations of traces, and in the fetches of their batches.
#pragma once

#include <lotus/topdown.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "answers/stacks/profile.hpp"
#include "answers/stats/sampled_total.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

// One counter in the calls of one operation.
struct CounterTotals {
  MeasuredByDuration measured{};
  MeasuredCalls first;               // of processes
  double enabled_ns = 0, on_ns = 0;  // how long measured calls ran, and the counter with them

  double on_percent() const { return enabled_ns > 0 ? 100 * on_ns / enabled_ns : 100; }
};

struct CountedCalls {
  std::uint64_t calls = 0;
  double wall_ns = 0;
  CallsByDuration by_duration{};  // but for the first of each process, where that was measured
  std::map<std::string, CounterTotals> counters;  // by perf's name

  // None: no call was measured with this counter.
  std::optional<SampledTotal> total(const std::string& counter) const;
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

class CounterCollector : public Visitor {
 public:
  // `findings` outlives it; what `trace` says is added.
  CounterCollector(const Trace& trace, CounterFindings& findings);

  void on_point(const Stream& stream, const Record& record, std::uint64_t ticks) override;
  void on_span(const Span& span) override;

 private:
  struct Count {
    std::uint64_t counter, value, enabled_ns, running_ns;
  };
  void add(const Span& span, CountedCalls& to, const std::vector<Count>& counts, bool first);

  const Trace& trace_;
  CounterFindings& findings_;
  // Of the innermost open span of a stream: they are recorded right before its end.
  std::unordered_map<const Stream*, std::vector<Count>> counts_;
  std::set<std::pair<const Process*, const Op*>> called_;  // nullptr: fetches
};

}  // namespace lotus::analyzer
