// The steps of training that a trace has the operators of.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "answers/memory/step_builder.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer::memory {

class StepCollector : public Visitor {
 public:
  // `steps`: what `trace` says is added; processes live as long as the trace.
  StepCollector(const Trace& trace, std::vector<RecordedStep>& steps) : trace_(trace), steps_(steps) {}

  void on_point(const Stream& stream, const Record& record, std::uint64_t ticks) override;
  void on_gap(const Stream& stream, std::uint64_t lost_records, std::uint64_t ticks) override;
  // Call after the trace is read: steps that did not end.
  void finish();
  // Calls of a function are recorded: where they are, steps are not.
  bool met_region() const { return met_region_; }

 private:
  struct Open {
    std::unique_ptr<StepBuilder> builder;  // nullptr: no step is open
    std::uint64_t number = 0, last = 0;    // last: ticks of its last record
    std::uint64_t faults = 0, system_ns = 0;
    Followed followed;
    bool lost = false;  // records are missing in it
    Survivors survivors;
    std::uint64_t survived = 0;  // the number of the step that they outlived
  };
  void begin(const Stream& stream, Open& open, const Record& record, std::uint64_t ticks);
  void end(Open& open, const Record& record, std::uint64_t ticks);
  void cut_off(Open& open);
  void keep(RecordedStep made);
  void add(const Stream& stream, Open& open, const Record& record, std::uint64_t ticks);

  const Trace& trace_;
  std::vector<RecordedStep>& steps_;
  bool met_region_ = false;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Open> open_;  // by process and stream
};

}  // namespace lotus::analyzer::memory
