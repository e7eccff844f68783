// The batches and the training loop over time, as the page draws them. Memory is bounded: each time there are
// more than kMost rows, every second row of each lane is dropped.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reading/model/iteration.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"
#include "showing/html/lane_table.hpp"

namespace lotus::analyzer {

class BatchRows : public Visitor {
 public:
  static constexpr std::size_t kMost = 1 << 17;

  // Both outlive it.
  explicit BatchRows(LaneTable& lanes) : lanes_(lanes) {}
  // Before each trace, which must live as long as the rows.
  void begin(const Trace& trace);

  void on_span(const Span& span) override;
  void on_batch(const Batch& batch) override;

  // {"origin_ns", "unit_ns", "span", "sets", "batches", "steps"}: times are multiples of unit_ns after
  // origin_ns, realtime; columns are base64 (see Column).
  nlohmann::ordered_json json() const;

 private:
  static constexpr std::int64_t kNever = INT64_MIN;

  struct Row {
    std::int64_t start = kNever, end = kNever;  // ns, realtime: of the fetch
    std::int64_t received = kNever, consumed = kNever, wait_start = kNever, wait = kNever;
    std::uint64_t ordinal = 0;  // in its lane
    std::uint64_t number = 0;   // PyTorch's, within the epoch
    std::uint64_t outstanding = kUnknown;
    LaneId lane = 0;
    std::uint32_t set = 0;
    bool out_of_order = false, failed = false;
  };
  // One __next__ and the training step that follows it.
  struct Step {
    std::int64_t start = 0, end = 0;
    std::int64_t receiving = 0, trained = 0;  // ns: of the __next__; of the step
    std::uint64_t ordinal = 0;
    LaneId lane = 0;
  };
  struct Latest {
    Step step;
    Iteration iteration;
  };
  // A loader's epoch.
  using Set = std::tuple<const Process*, std::uint64_t, std::uint64_t>;  // loader, epoch

  template <class T>
  struct Kept {
    std::vector<T> rows;
    std::uint64_t stride = 1;  // one of this number of rows is kept
    std::unordered_map<LaneId, std::uint64_t> seen;

    void add(T row);
  };

  void on_next(const Span& span);
  void finish_trace();
  std::uint32_t set_of(const BatchKey& key);
  std::int64_t at(std::uint64_t ticks) const;
  std::pair<std::int64_t, std::int64_t> extent() const;
  nlohmann::ordered_json batches_json(std::int64_t origin, std::int64_t unit) const;
  nlohmann::ordered_json steps_json(std::int64_t origin, std::int64_t unit) const;
  Kept<Step> all_steps() const;

  LaneTable& lanes_;
  const Trace* trace_ = nullptr;
  Kept<Row> rows_;
  Kept<Step> steps_;
  std::map<IterationKey, Latest> latest_;                      // of the current trace
  std::unordered_map<const Stream*, std::int64_t> receiving_;  // ns, in the open __next__
  std::map<Set, std::uint32_t> sets_;
};

}  // namespace lotus::analyzer
