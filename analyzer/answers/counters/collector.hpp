// Collects what counters counted while a trace is read.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "answers/counters/findings.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

class CounterCollector : public Visitor {
 public:
  // `findings` outlives it; what `trace` says is added.
  CounterCollector(const Trace& trace, CounterFindings& findings);

  void on_point(const Stream& stream, const Record& record, std::uint64_t ticks) override;
  void on_span(const Span& span) override;
  // After the visit.
  void end();

 private:
  struct Count {
    std::uint64_t counter, value, enabled_ns, running_ns;
  };
  struct Block {
    double calls = 0, sum = 0;
  };
  void add(const Span& span, CountedCalls& to, const std::vector<Count>& counts, bool first);
  void close_blocks(const Stream& stream);

  const Trace& trace_;
  CounterFindings& findings_;
  // Of the innermost open span of a stream: they are recorded right before its end.
  std::unordered_map<const Stream*, std::vector<Count>> counts_;
  std::set<std::pair<const Process*, const Op*>> called_;  // nullptr: fetches
  // Measured calls of the batch that a stream makes; findings' maps keep their entries where they are.
  std::unordered_map<const Stream*, std::map<CounterTotals*, Block>> open_;
};

}  // namespace lotus::analyzer
