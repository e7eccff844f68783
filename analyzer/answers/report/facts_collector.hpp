// Collects the facts of a report while traces are read.
#pragma once

#include "answers/report/facts.hpp"
#include "reading/model/iteration.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

class FactsCollector {
 public:
  void begin(const Trace& trace) { trace_ = &trace; }
  void on_span(const Span& span);
  // A training loop, once all of its calls are known.
  void add_loop(const IterationKey& key, const Iteration& loop);

  Facts take() { return facts_; }

 private:
  void on_indices(const Span& span);

  Facts facts_;
  const Trace* trace_ = nullptr;
};

}  // namespace lotus::analyzer
