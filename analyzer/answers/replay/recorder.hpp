// Collects the recordings of a trace's loaders while it is read.
//
// Memory is bounded: at most kMostEpochs epochs of a loader are kept, evenly spread, and the first
// kMostBatches batches of each. Sums include all epochs and batches.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "answers/replay/assembly.hpp"
#include "answers/replay/recording.hpp"
#include "reading/model/iteration.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

// The time that an open fetch spent in each operation so far.
class RunningOps {
 public:
  void add(std::uint32_t op, float ticks);
  // Each operation once; this is empty afterwards.
  std::vector<OpTime> take();

 private:
  // Entries that are searched for an operation. Entries behind them may repeat operations and are merged each
  // time their number doubles, so that the work is linear in the number of calls for any number of
  // operations.
  static constexpr std::size_t kFew = 16;

  void merge();

  std::vector<OpTime> times_;
  std::size_t merge_at_ = 4 * kFew;
};

class Recorder : public Visitor {
 public:
  static constexpr std::uint64_t kMostEpochs = 8;
  static constexpr std::uint64_t kMostBatches = 1024;

  // begin() and end() enclose the visits of one trace.
  void begin(const Trace& trace);
  void end();

  // The recordings of all loaders, longest waited for first.
  std::vector<Recording> take();

  void on_span(const Span& span) override;
  void on_point(const Stream& stream, const Record& record, std::uint64_t ticks) override;
  void on_batch(const Batch& batch) override;
  void on_native(const Stream& stream, const Record& record) override;

 private:
  void on_op(const Span& span);
  struct SampleEnd {
    std::uint64_t at = 0;  // ticks
    const Process* worker = nullptr;
    std::uint64_t ticks = 0;  // its length
  };
  static TakingTurns turns_of(std::vector<SampleEnd> ends, std::uint64_t workers);
  void on_sample(const Span& span);
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
  std::unordered_map<const Stream*, RunningOps> running_;          // of the open fetches
  std::unordered_map<const Stream*, std::uint64_t> locked_ticks_;  // waited for shared locks in them
  const Stream* last_stream_ = nullptr;
  RunningOps* last_running_ = nullptr;
  std::map<std::pair<const Process*, std::uint64_t>, std::vector<SampleEnd>> sample_ends_;  // by loader id
  std::vector<Recording> recordings_;
};

}  // namespace lotus::analyzer
