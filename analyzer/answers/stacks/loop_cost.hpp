// The cost of a batch for training: one run's side of a comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/stats/core_wait.hpp"
#include "answers/stats/estimate.hpp"
#include "reading/model/iteration.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/clock_map.hpp"

namespace lotus::analyzer {

// The mean of a sequence of values that depend on their neighbours, as waits for batches do. Its error is
// computed from the variance between the means of 32 to 63 blocks of neighbours (method of batch means).
class RowMean {
 public:
  void add(double ns);
  std::uint64_t count() const { return count_; }
  double sum() const { return sum_; }
  // Of fewer than two values the error is not known: infinite.
  Estimate estimate() const;

 private:
  static constexpr std::size_t kMostBlocks = 64;

  std::vector<double> blocks_;  // sums of `length_` values each, but for the last one
  std::uint64_t length_ = 1, in_last_ = 0;
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

struct LoopCost {
  RowMean batch, wait, step;     // from one __next__ to the following one; inside it; between them. ns
  RowMean fetch;                 // making a batch, in one worker
  std::string unit = "samples";  // what they are: Catalog::sample_unit()
  std::uint64_t samples = 0;     // of all batches that were made; 0: not known
  double next = 0, loop = 0;     // ns: as LoaderFinding's
  double time = 0;               // ns: the loop and what comes before it, from the call of __iter__ on
  CoreWait core_wait;            // of workers, making batches
  double next_elsewhere = 0;     // ns: of loops of which Iteration::trained_elsewhere(), which do not count

  // Another thread than training's takes most batches: how long training waits for them is not known.
  bool taken_elsewhere() const { return next_elsewhere > next; }
  std::optional<double> waited_percent() const {
    return loop > 0 ? std::optional(100 * next / loop) : std::nullopt;
  }
  // In a batch; 0: not known.
  double mean_samples() const {
    return fetch.count() > 0 ? static_cast<double>(samples) / static_cast<double>(fetch.count()) : 0;
  }
  // Of one training process, on average. None if the number of samples in batches is not known.
  std::optional<double> samples_per_s() const;
  // None: there was no batch.
  std::optional<double> batches_per_s() const;
};

class LoopCostReader {
 public:
  explicit LoopCostReader(const ClockMap& clock) : clock_(clock) {}
  void on_span(const Span& span);
  // After the visit.
  LoopCost take();

 private:
  // One call of __next__ and the step before it; ns.
  struct Call {
    std::optional<double> batch, step, wait;
  };
  // Whose loop it is shows when others step for the first time: its first calls are kept until then.
  struct Loop : Iteration {
    double next = 0, all_next = 0;  // ns of the last call, and of all
    std::vector<Call> first_calls{};
    bool counted = false;
  };
  static constexpr std::size_t kMostKept = 64;

  void add(const Call& call);
  void count(Loop& loop);

  const ClockMap& clock_;
  LoopCost cost_;
  bool unsized_ = false;  // how many samples a batch has is not known
  std::map<IterationKey, Loop> loops_;
};

}  // namespace lotus::analyzer
