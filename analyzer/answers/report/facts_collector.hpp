// Collects the facts of a report while traces are read.
#pragma once

#include <map>
#include <string>

#include "answers/report/dataset_calls.hpp"
#include "answers/report/facts.hpp"
#include "answers/report/process_use.hpp"
#include "reading/model/iteration.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

class FactsCollector {
 public:
  void begin(const Trace& trace) { trace_ = &trace; }
  void on_span(const Span& span);
  void on_point(const Stream& stream, const Record& record) {
    use_.on_point(stream, record, trace_->clock);
    dataset_calls_.on_point(stream, record, trace_->clock);
    if (record.kind == Kind::started) on_started(record);
  }
  void on_native(const Stream& stream, const Record& record);
  // A training loop, once all of its calls are known.
  void add_loop(const IterationKey& key, const Iteration& loop);

  const ProcessUseCollector::ReadsByIterator& reads() const { return use_.reads(); }

  // After the last of a trace's records.
  void end() {
    use_.fold(facts_);
    dataset_calls_.end_trace();
  }

  Facts take();

 private:
  void on_indices(const Span& span);
  void on_started(const Record& record);

  struct LockWaits {
    std::uint64_t waits = 0;
    double total = 0;
    std::map<std::string, double> ops;
  };

  Facts facts_;
  ProcessUseCollector use_;
  DatasetCallsCollector dataset_calls_;
  std::map<std::string, LockWaits> locks_;  // by name
  const Trace* trace_ = nullptr;
};

}  // namespace lotus::analyzer
