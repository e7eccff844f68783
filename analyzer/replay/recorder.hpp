// Collects the recordings of a trace's loaders while it streams by.
//
// Memory is bounded: of each loader at most kMostEpochs epochs are kept, evenly spread, and of each the first
// kMostBatches batches. Sums are over all of them.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "model/iteration.hpp"
#include "model/visitor.hpp"
#include "replay/recording.hpp"
#include "trace/trace.hpp"

namespace lotus::analyzer {

// What is known of one batch and one epoch so far. Times in ticks.
struct RawBatch {
  Batch batch;
  Interval get;
  std::uint64_t cpu_ns = kUnknown;
  std::uint64_t core_wait_ns = kUnknown;
  std::vector<OpTime> ops;  // op: Op::index; time in ticks
};

struct RawEpoch {
  std::map<std::uint64_t, RawBatch> batches;  // by index
  std::vector<RecordedStep> steps;
  Iteration iteration;
  std::uint64_t consumed = 0, cpu_before_step = kUnknown, received = kUnknown;
  std::uint64_t seen = 0, unseen = 0;  // batches that training got, by whether their making is in the trace
  double images = 0, next = 0, get = 0, finish = 0;  // of those seen; sums of ns; get: inside of __next__
  bool finished = false, kept = true;
};

// What an open fetch spent in each operation so far.
class RunningOps {
 public:
  void add(std::uint32_t op, float ticks);
  // Each operation once; empty afterwards.
  std::vector<OpTime> take();

 private:
  // So many are looked through for an operation. Those behind them are put together when they have doubled:
  // the work follows the number of calls, however many operations there are.
  static constexpr std::size_t kFew = 16;

  void merge();

  std::vector<OpTime> times_;
  std::size_t merge_at_ = 4 * kFew;
};

class Recorder : public Visitor {
 public:
  static constexpr std::uint64_t kMostEpochs = 8;
  static constexpr std::uint64_t kMostBatches = 1024;

  // Brackets the visits of one trace.
  void begin(const Trace& trace);
  void end();

  // The recordings of all loaders, those that were waited for longest first.
  std::vector<Recording> take();

  void on_span(const Span& span) override;
  void on_point(const Stream& stream, const Record& record, std::uint64_t ticks) override;
  void on_batch(const Batch& batch) override;

 private:
  void on_op(const Span& span);
  void on_fetch(const Span& span);
  void on_get(const Span& span);
  void on_next(const Span& span);
  RunningOps& running(const Stream& stream);
  RawEpoch& epoch_of(const Process& training, std::uint64_t iterator, std::uint64_t reset);
  RawBatch* batch_of(RawEpoch& epoch, std::uint64_t index);

  const Trace* trace_ = nullptr;
  std::map<IterationKey, RawEpoch> epochs_;  // of the current trace
  std::map<std::pair<const Process*, std::uint64_t>, std::uint64_t> epochs_of_loader_;  // how many, by id
  std::vector<RecordedOp> ops_;  // of the current trace, by Op::index; self in ticks
  std::unordered_map<const Stream*, RunningOps> running_;  // of the open fetches
  const Stream* last_stream_ = nullptr;
  RunningOps* last_running_ = nullptr;
  std::vector<Recording> recordings_;
};

struct EpochOf {
  const Process* training;
  std::uint64_t iterator, reset;
  const RawEpoch* raw;
};

// The recording of one loader of `training`. `ops`: by Op::index, self in ticks.
Recording recording_of(const Trace& trace, const Process& training, const Loader& loader,
                       std::vector<EpochOf> epochs, const std::vector<RecordedOp>& ops);

}  // namespace lotus::analyzer
