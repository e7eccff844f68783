// What training steps call of their dataset, from the records of such calls.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "answers/report/facts.hpp"
#include "reading/model/iteration.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/clock_map.hpp"

namespace lotus::analyzer {

class DatasetCallsCollector {
 public:
  void on_point(const Stream& stream, const Record& record, const ClockMap& clock);
  // A call of __next__: what was called since the one before it belongs to the step between them.
  void on_next(const Span& next);
  // After the last record of a trace.
  void end_trace() { threads_.clear(); }
  // All that was called in steps; the longest first.
  std::vector<DatasetCall> take();

 private:
  struct Sums {
    std::uint64_t calls = 0;
    double total = 0;  // ns
  };
  using Calls = std::map<std::string, Sums, std::less<>>;  // by name
  struct ThreadCalls {
    IterationKey loop;      // of its last call of __next__, …
    bool stepping = false;  // … which gave a batch
    Calls since;
  };

  std::unordered_map<const Stream*, ThreadCalls> threads_;  // of the current trace
  Calls in_steps_;
};

}  // namespace lotus::analyzer
