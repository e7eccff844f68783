#include "paper/lotustrace/batch_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer::lotustrace {
namespace {

struct Read {
  LineKind kind;
  std::uint64_t batch;
  Stamp stamp;
  std::size_t worker = 0, place = 0;  // Preprocessed: its worker, and its number in that log
};

struct Consumption {
  std::vector<std::int64_t> ends;  // of the epochs
  bool in_order = true;            // of the batches' numbers, in each epoch
};

// An epoch ends where a batch comes that it had. Mostly the numbers start again there; with in_order=False
// they go up and down.
Consumption consumption_of(const std::vector<Read>& records) {
  Consumption all;
  std::set<std::uint64_t> had;
  for (const Read& record : records) {
    if (record.kind != LineKind::consumed) continue;
    const bool again = had.count(record.batch) != 0;
    if (again) had.clear();
    if (again || all.ends.empty()) all.ends.push_back(0);
    all.ends.back() = record.stamp.start;
    all.in_order = all.in_order && (had.empty() || record.batch > *had.rbegin());
    had.insert(record.batch);
  }
  if (all.ends.empty()) all.ends.push_back(0);
  return all;
}

std::optional<Stamp>& slot_of(LoggedBatch& batch, LineKind kind) {
  switch (kind) {
    case LineKind::preprocessed:
      return batch.preprocessed;
    case LineKind::wait:
      return batch.wait;
    case LineKind::consumed:
      return batch.consumed;
    case LineKind::queued:
      return batch.queued;
    default:
      return batch.pinned;
  }
}

class Joiner {
 public:
  Joiner(const LogDirectory& logs, std::vector<Read> records) : logs_(logs), records_(std::move(records)) {
    Consumption consumed = consumption_of(records_);
    ends_ = std::move(consumed.ends);
    out_.in_order = consumed.in_order;
    out_.epochs.resize(ends_.size());
    for (std::size_t i = 0; i < ends_.size(); ++i) out_.epochs[i].end = ends_[i];
  }

  // Latest epoch first: a batch that an epoch prefetched and never consumed may start after the next epoch
  // began, but before that epoch's batch of the same number.
  BatchRecords run() {
    std::stable_sort(records_.begin(), records_.end(),
                     [](const Read& a, const Read& b) { return a.stamp.start > b.stamp.start; });
    for (const Read& record : records_) place(record);
    return std::move(out_);
  }

 private:
  std::size_t epoch_at(std::int64_t start) const {
    const auto after = std::lower_bound(ends_.begin(), ends_.end(), start);
    return std::min(static_cast<std::size_t>(after - ends_.begin()), ends_.size() - 1);
  }

  void place(const Read& record) {
    std::size_t epoch = epoch_at(record.stamp.start);
    const auto taken = [&](std::size_t at) {
      return slot_of(out_.epochs[at].batches[record.batch], record.kind).has_value();
    };
    while (taken(epoch)) {
      if (epoch == 0) return twice(record);
      --epoch;
    }
    LoggedBatch& batch = out_.epochs[epoch].batches[record.batch];
    slot_of(batch, record.kind) = record.stamp;
    if (record.kind != LineKind::preprocessed) return;
    batch.worker = record.worker;
    auto& epochs = out_.epoch_of;
    if (epochs.size() <= record.worker) epochs.resize(record.worker + 1);
    if (epochs[record.worker].size() <= record.place) epochs[record.worker].resize(record.place + 1);
    epochs[record.worker][record.place] = epoch;
  }

  [[noreturn]] void twice(const Read& record) const {
    const bool made = record.kind == LineKind::preprocessed;
    const std::string& path = made ? logs_.workers[record.worker].path : logs_.main.front().path;
    throw Unusable(fmt::format(
        "{}:{}: batch {} is there once more than there are epochs ({}): expected the logs of one run in a "
        "directory; put each run into one of its own",
        escaped(path), record.stamp.line, record.batch, ends_.size()));
  }

  const LogDirectory& logs_;
  std::vector<Read> records_;
  std::vector<std::int64_t> ends_;  // ascending, unless the clock was set back
  BatchRecords out_;
};

}  // namespace

namespace {

// Counts the samples of the batches of one worker.
class SampleCounter {
 public:
  void add(const Line& line) {
    if (line.kind == LineKind::loader) ++loaded_;
    if (line.kind == LineKind::op && first_.empty()) first_ = line.op;
    if (line.kind == LineKind::op && line.op == first_) ++repeated_;
    if (line.kind != LineKind::preprocessed) return;
    most_ = std::max(most_, loaded_ > 0 ? loaded_ : repeated_);
    loaded_ = repeated_ = 0;
    first_.clear();
  }
  std::uint64_t most() const { return most_; }

 private:
  std::string first_;
  std::uint64_t loaded_ = 0, repeated_ = 0, most_ = 0;
};

}  // namespace

BatchRecords read_batches(const LogDirectory& logs, Complaints& complaints) {
  std::vector<Read> records;
  std::vector<BatchRecords::Extent> workers(logs.workers.size());
  BatchRecords::Extent main;
  std::uint64_t most_samples = 0;
  const auto read = [&](const LogFile& file, std::size_t worker, BatchRecords::Extent& extent) {
    LogReader reader(file, &complaints);
    std::size_t place = 0;
    SampleCounter samples;
    for (Line line; reader.next(line);) {
      extent.add(line.start, line.end());
      samples.add(line);
      if (!line.of_batch()) continue;
      records.push_back({line.kind, line.batch, {line.start, line.duration, reader.number()}, worker, 0});
      if (line.kind == LineKind::preprocessed) records.back().place = place++;
    }
    most_samples = std::max(most_samples, samples.most());
  };
  for (const LogFile& file : logs.main) read(file, 0, main);
  for (std::size_t i = 0; i < logs.workers.size(); ++i) read(logs.workers[i], i, workers[i]);
  BatchRecords joined = Joiner(logs, std::move(records)).run();
  joined.workers = std::move(workers);
  joined.epoch_of.resize(logs.workers.size());
  joined.main = main;
  joined.most_samples = most_samples;
  return joined;
}

}  // namespace lotus::analyzer::lotustrace
