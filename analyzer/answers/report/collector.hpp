// Collects the findings of a report while traces are read.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "answers/counters/collector.hpp"
#include "answers/replay/recorder.hpp"
#include "answers/report/activity.hpp"
#include "answers/report/facts_collector.hpp"
#include "answers/report/findings.hpp"
#include "answers/report/native.hpp"
#include "answers/stats/slowest.hpp"
#include "reading/model/iteration.hpp"
#include "reading/model/reading.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

class FindingsCollector : public Visitor {
 public:
  static constexpr std::size_t kSlowest = 10;

  // begin() and end() enclose the visits of one trace, which must outlive the collector.
  void begin(const Trace& trace);
  void end(const Reading& reading);

  // All that was collected; the collector is empty afterwards.
  Findings take();

  bool wants_stacks() const override { return true; }
  void on_stack_sample(const Process& process, const Record& record, std::uint64_t ticks) override;
  void on_off_cpu(const Process& process, const Record& record, std::uint64_t ticks) override {
    native_.on_off_cpu(process, record, ticks);
    note_activity(ticks);
  }
  void on_native(const Stream& stream, const Record& record) override {
    recorder_.on_native(stream, record);
    native_.on_native(stream, record);
    facts_.on_native(stream, record);
  }
  void on_span(const Span& span) override;
  void on_point(const Stream& stream, const Record& record, std::uint64_t ticks) override;
  void on_batch(const Batch& batch) override;
  void on_open_span(const Stream& stream, const OpenSpan& span, std::size_t depth) override;

 private:
  struct Loop : Iteration {
    double next = 0;  // ns inside __next__
    std::uint64_t batches = 0;
    std::uint64_t tid = 0;
  };

  struct LastBatch {
    std::uint64_t consumed = 0;  // ticks
    std::optional<std::uint64_t> batch;
  };

  struct Unended {
    const Process* process;
    Kind kind;
    std::uint64_t start;
  };

  // Most records follow another one within some ms, and need no conversion of their time.
  void note_activity(std::uint64_t ticks) {
    if (ticks >> kFewMs == last_activity_) return;
    last_activity_ = ticks >> kFewMs;
    activity_.note(trace_->clock.ns(ticks));
  }
  void on_op(const Span& span);
  void on_runner(const Span& span);
  void on_sample(const Span& span);
  void on_fetch(const Span& span);
  void on_next(const Span& span);
  void on_worker_loop(const Stream& stream, const OpenSpan& span, std::uint64_t end);
  OpFinding& finding_of(const Op& op);
  static void add_to_epochs(const Span& fetch, double took, bool first, LoaderFinding& loader);
  LoaderFinding& loader_of(const Process& training, std::uint64_t iterator);
  WorkerFinding& worker_of(const Process& process);
  void note_whole_batch(std::uint64_t size);
  void keep_slow(const Span& span, std::int64_t ns);
  void fold_unended(const Reading& reading);
  void note_killed_training();
  void fold_loops();
  void note_loops_at_once();
  static void note_taker(const Process& training, const Loop& loop, LoaderFinding& loader);
  void leave_out_taken_elsewhere();
  void add_helping(const Process& process, std::uint64_t tid, std::uint64_t stack, double ns);
  void fold_beside();
  void fold_reads();
  void fold_quality(const Reading& reading);
  void sort_loaders();
  std::int64_t ns(const Span& span) const;
  std::int64_t ns(const Interval& interval) const {
    return trace_->clock.between(interval.start, interval.end);
  }

  Slowest<SlowSample, kSlowest> slow_;
  Findings findings_;
  Recorder recorder_;
  NativeCollector native_;
  FactsCollector facts_;
  std::unique_ptr<CounterCollector> counters_;  // of the current trace; nullptr: it has no counters
  static constexpr unsigned kFewMs = 24;        // bits of a time in ticks
  std::uint64_t last_activity_ = 0;
  Activity activity_;  // of the current trace
  PoolsCollector pools_;
  std::map<const Process*, std::set<std::uint64_t>> helpers_;  // tids, by worker, of the current trace
  // A worker's thread that records, beside its main one.
  struct Beside {
    std::map<std::uint64_t, double> by_stack;  // ns, by samples
    bool makes = false;  // it makes or sends batches; else it is one of a pool, and has operations at most
  };
  std::map<std::pair<const Process*, std::uint64_t>, Beside> beside_;  // by tid, of the current trace
  const Trace* trace_ = nullptr;
  std::deque<OpFinding> ops_;
  std::map<std::tuple<OpRole, std::string, std::string, std::string, std::uint64_t>, OpFinding*> op_by_key_;
  std::vector<OpFinding*> op_by_index_;                                           // of the current trace
  std::map<std::pair<const Process*, std::uint64_t>, std::size_t> loader_slots_;  // by loader id
  std::unordered_map<const Process*, std::size_t> worker_slots_;
  std::map<IterationKey, Loop> loops_;                          // of the current trace
  std::unordered_map<const Process*, LastBatch> last_batches_;  // that training got, of the current trace
  std::vector<Unended> unended_;
};

}  // namespace lotus::analyzer
