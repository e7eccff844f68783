// The cost of a call of each operation with its uncertainty: one run's side of a comparison.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "answers/stacks/loop_cost.hpp"
#include "answers/stacks/own_time.hpp"
#include "answers/stats/block_mean.hpp"

namespace lotus::analyzer {

struct OpCost : OwnTime {
  BlockMean wall;  // time of a call, nested operations included
  BlockMean
      clock;  // CPU time of the calls of which it was measured, by their threads' clock; nested ones included

  Estimate cpu_per_call(const Tally& tally) const;
};

struct Costs {
  std::map<std::string, OpCost> ops;  // by name of the operation
  LoopCost loop;
};

// Reads a trace for its costs. `trace` and `frames` outlive it.
class CostReader : public Visitor {
 public:
  CostReader(const Trace& trace, FrameTable& frames)
      : trace_(trace), frames_(frames), profile_(trace), loop_(trace.clock) {}

  bool wants_stacks() const override { return true; }
  void on_stack_sample(const Process& process, const Record& record, std::uint64_t ticks) override {
    // Samples reach the file before the calls that they belong to: at its end, some calls may be missing.
    if (process.has_records_until(field<Kind::stack_sample, "tid">(record), ticks))
      profile_.on_stack_sample(process, record, ticks);
  }
  void on_span(const Span& span) override;

  // After the visit.
  Costs take();
  SamplingFacts facts(const Reading& reading) const { return profile_.facts(reading); }

 private:
  struct Block {
    double calls = 0, ns = 0;
    double measured = 0, cpu_ns = 0;
  };
  void add(const std::string& name, const Block& block);
  void close(const Stream& stream);

  const Trace& trace_;
  FrameTable& frames_;
  Profile profile_;
  LoopCostReader loop_;
  Costs costs_;
  std::map<const Stream*, std::map<std::string, Block>> open_;
};

}  // namespace lotus::analyzer
