// Collects the data of `report --by-rank` while traces are read.
#pragma once

#include <map>
#include <unordered_map>

#include "answers/ranks/ranks.hpp"
#include "reading/model/iteration.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

class RankCollector : public Visitor {
 public:
  // begin() and end() enclose the visits of one trace, which must outlive the collector.
  void begin(const Trace& trace);
  void end();

  RankFindings take();

  void on_span(const Span& span) override;
  void on_batch(const Batch& batch) override;

 private:
  // The finding of the process's rank; nullptr: it belongs to none.
  RankFinding* finding_of(const Process& process);
  void on_next(RankFinding& finding, const Span& span);
  std::int64_t ns(std::uint64_t start, std::uint64_t end) const { return trace_->clock.between(start, end); }

  // Whose loop it is, is known at its end.
  struct Loop : Iteration {
    double next = 0, next_later = 0;  // ns, as RankFinding's
    std::uint64_t batches = 0, samples = 0;
    Durations wait, step;
  };
  void fold(RankFinding& finding, const IterationKey& key, const Loop& loop) const;

  const Trace* trace_ = nullptr;
  bool unsized_ = false;  // how many samples a batch has is not known
  RankFindings findings_;
  std::map<std::uint64_t, RankFinding> ranks_;
  std::unordered_map<const Process*, RankFinding*> by_process_;
  std::map<IterationKey, Loop> loops_;  // of one trace
};

}  // namespace lotus::analyzer
