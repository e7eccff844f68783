// What counters counted in functions: each stack sample carries what its thread counted since its last one,
// and the function in which the sample came gets it. True on average: what was counted lies in the functions
// that ran in between as their times do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/counters/findings.hpp"
#include "answers/stacks/frame_table.hpp"
#include "answers/stacks/own_time.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

// Samples that carry counts.
struct SampledCounts {
  Tally cpu;
  std::map<std::string, MeasuredCalls> counters;  // by perf's name; `calls` are samples

  void add(const SampledCounts& other);
};

// Sums by name of the innermost operation and of the counter.
using CountsByOp = std::map<std::string, std::map<std::string, double>>;

struct CountedFunction {
  NamedFrame frame;
  std::string under;  // see named_caller(); empty: none
  SampledCounts own;  // in samples where it was innermost
  CountsByOp by_op;   // the same sums, divided

  // What `counter` counted in it: the sum over its samples, of all the `samples` that were taken in
  // operations. The interval is that of a sum over a random number of samples; none: of a single one.
  std::optional<SampledTotal> total(const std::string& counter, double samples) const;
};

struct FunctionCounts {
  SampledCounts all;
  std::vector<CountedFunction> functions;  // by CPU time, most first
};

// Visits traces, one after the other; stacks of operations only.
class FunctionCounter : public Visitor {
 public:
  // begin() and end() enclose the visits of one trace.
  void begin(const Trace& trace);
  void end();
  FunctionCounts take();

  bool wants_stacks() const override { return true; }
  void on_stack_sample(const Process& process, const Record& record, std::uint64_t ticks) override;
  void on_sample_count(const Process& process, const Record& record, std::uint64_t ticks) override;

 private:
  const Trace* trace_ = nullptr;
  std::optional<Profile> profile_;  // which knows the CPU time of a sample
  // Of the current trace: by name of the operation, empty if it is lost, and id of the stack.
  std::map<std::pair<std::string_view, std::uint64_t>, SampledCounts> stacks_;
  SampledCounts* sample_ = nullptr;  // the last one; nullptr: in no operation
  double sample_ns_ = 0;             // its CPU time; 0 once that is added
  FrameTable frames_;
  struct Own {
    SampledCounts counts;
    CountsByOp by_op;
    Callers callers;
  };
  std::map<FrameId, Own> functions_;
  FunctionCounts found_;
};

}  // namespace lotus::analyzer
