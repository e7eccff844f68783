// Converts the raw times of a loader's epochs to a recording.
#include "answers/replay/assembly.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace lotus::analyzer {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// What handing over takes. Of few times the shortest: workers that never wait for training pause between two
// batches only at their start, which takes longer, and one that was disturbed must not stand for all.
double usual(std::vector<double> times) {
  constexpr std::size_t kFew = 8;
  if (times.empty() || times.size() >= kFew) return median(std::move(times));
  return *std::min_element(times.begin(), times.end());
}

// Converts the epochs of one loader and collects the values that need all of them (medians, sums).
class Assembly {
 public:
  Assembly(const Trace& trace, const Loader& loader, Recording& recording)
      : trace_(trace), loader_(loader), recording_(recording) {}

  void add(const EpochOf& of);
  void finish();

 private:
  using Rows = std::vector<const RawBatch*>;
  // What happens to a batch and its worker after the fetch.
  struct Move {
    double transfer = -1;  // -1: not known
    std::optional<double> pause{};
    bool waited = false;
  };
  using Moves = std::map<const RawBatch*, Move>;

  void add_sums(const EpochOf& of, std::uint64_t begun);
  void add_worker(const Rows& rows, bool fresh, Moves& moves);
  RecordedBatch batch_of(const RawBatch& raw, const Move& move);
  double fetch_cpu_of(const RawBatch& raw) const;
  double receive_of(const RawBatch& raw);
  double joint_of(const RawBatch& raw) const;
  double ns(std::uint64_t from, std::uint64_t to) const {
    return from == kUnknown || to == kUnknown ? 0 : static_cast<double>(trace_.clock.between(from, to));
  }
  double ns(std::uint64_t ticks) const { return static_cast<double>(trace_.clock.duration_ns(ticks)); }
  double ns(const Interval& interval) const {
    return interval.known() ? ns(interval.start, interval.end) : 0;
  }

  const Trace& trace_;
  const Loader& loader_;
  Recording& recording_;
  std::vector<double> dispatch_, between_, handover_;
  double own_ = 0;  // of all epochs
  bool unsized_ = false;
};

std::uint32_t worker_of(const RawBatch& raw) {
  const Process* process = raw.batch.worker;
  return process != nullptr && process->worker_of ? static_cast<std::uint32_t>(process->worker_of->worker)
                                                  : 0;
}

void Assembly::add_sums(const EpochOf& of, std::uint64_t begun) {
  const RawEpoch& raw = *of.raw;
  Achieved& achieved = recording_.achieved;
  // Batches without a fetch in the trace are assumed to be as large as the others.
  const auto seen = static_cast<double>(std::max<std::uint64_t>(1, raw.seen));
  achieved.images += raw.images * (1 + static_cast<double>(raw.unseen) / seen);
  recording_.unseen += raw.unseen;
  unsized_ = unsized_ || raw.unsized;
  const auto loop = static_cast<double>(trace_.clock.duration_ns(raw.iteration.ticks()));
  achieved.time += ns(begun, raw.iteration.first) + loop;
  achieved.loop += loop;
  recording_.starting += ns(begun, raw.first_got);
  recording_.iterable = recording_.iterable || raw.iterable;
  const auto from = static_cast<double>(trace_.clock.ns(std::min(begun, raw.iteration.first)));
  const auto until = static_cast<double>(trace_.clock.ns(raw.iteration.last));
  recording_.from = recording_.all_epochs == 0 ? from : std::min(recording_.from, from);
  recording_.until = std::max(recording_.until, until);
  recording_.unfinished += raw.finished ? 0 : 1;
  recording_.made += raw.made;
  achieved.next += raw.next;
  if (raw.iteration.trained_elsewhere() > 0) recording_.next_elsewhere += raw.next;
  recording_.batches += raw.consumed;
  ++recording_.all_epochs;
  own_ += std::max(0.0, raw.next - raw.finish - raw.get);
}

// Derives the dispatch and transfer times and the pauses from a worker's fetches, which are in order of time.
void Assembly::add_worker(const Rows& rows, bool fresh, Moves& moves) {
  const RawBatch* before = nullptr;
  for (const RawBatch* row : rows) {
    const Batch& batch = row->batch;
    if (before != nullptr && batch.queued != kUnknown) {
      const std::uint64_t idle_from = before->batch.fetch.end;
      Move& move = moves[before];
      move.pause = ns(idle_from, batch.fetch.start);
      move.waited = batch.queued >= idle_from;
      if (move.waited)
        dispatch_.push_back(ns(batch.queued, batch.fetch.start));
      else
        between_.push_back(*move.pause);
    } else if (!fresh && batch.queued != kUnknown) {
      dispatch_.push_back(ns(batch.queued, batch.fetch.start));
    }
    std::uint64_t from = batch.fetch.end;
    if (before != nullptr && before->batch.send.known()) from = std::max(from, before->batch.send.end);
    if (batch.send.known()) moves[row].transfer = ns(from, batch.send.end);
    before = row;
  }
}

double Assembly::receive_of(const RawBatch& raw) {
  const Batch& batch = raw.batch;
  if (batch.pin.known()) {
    if (raw.get.known() && batch.pin_queued != kUnknown)
      handover_.push_back(ns(std::max(raw.get.start, batch.pin_queued), raw.get.end));
    return ns(batch.deserialize);
  }
  if (raw.get.known() && batch.send.known()) return ns(std::max(raw.get.start, batch.send.end), raw.get.end);
  return ns(batch.deserialize);
}

// A batch larger than the pipe's buffer is written as fast as it is read: while training computes, the writer
// waits. A pin thread always reads.
double Assembly::joint_of(const RawBatch& raw) const {
  const Batch& batch = raw.batch;
  if (!batch.send.known() || batch.pin.known() || !raw.get.known()) return ns(batch.send);
  const std::uint64_t from = std::max(raw.get.start, batch.send.start);
  return from < batch.send.end ? ns(from, batch.send.end) : 0;
}

// A fetch that hands its work to threads and waits for them needs a core as much as if it computed itself:
// with the interpreter's lock one for all. Another thread sends the batch before it meanwhile; that is not
// the fetch's.
double Assembly::fetch_cpu_of(const RawBatch& raw) const {
  double cpu = static_cast<double>(raw.cpu_ns);
  if (raw.process_cpu_ns != kUnknown)
    cpu = std::max(cpu, static_cast<double>(raw.process_cpu_ns) - ns(raw.batch.serialize));
  return std::min(ns(raw.batch.fetch), cpu);
}

RecordedBatch Assembly::batch_of(const RawBatch& raw, const Move& move) {
  const Batch& batch = raw.batch;
  RecordedBatch out;
  out.index = batch.key.batch;
  out.worker = worker_of(raw);
  out.samples = batch.samples;
  out.fetch = ns(batch.fetch);
  out.fetch_cpu = raw.cpu_ns == kUnknown ? -1 : fetch_cpu_of(raw);
  if (raw.core_wait_ns != kUnknown) {
    out.core_wait = static_cast<double>(raw.core_wait_ns);
    recording_.core_wait_known = true;
  }
  out.transfer = move.transfer;
  out.pause = move.pause;
  out.waited = move.waited;
  out.transfer_cpu = std::min(out.transfer, ns(batch.serialize));
  out.lock_wait = std::min(ns(raw.lock_wait), out.fetch - std::max(0.0, out.fetch_cpu));
  out.pipe = ns(batch.send);
  out.joint = joint_of(raw);
  out.receive = batch.inline_fetch ? 0 : receive_of(raw);
  out.pin = ns(batch.pin);
  for (const OpTime& time : raw.ops)
    out.ops.push_back({time.op, static_cast<float>(time.ns * trace_.clock.ns_per_tick())});
  return out;
}

void Assembly::add(const EpochOf& of) {
  const std::uint64_t begun = begin_of({of.training, of.iterator, of.reset}, of.raw->iteration);
  add_sums(of, begun);
  if (!of.raw->kept || of.raw->steps.empty()) return;
  RecordedEpoch epoch;
  epoch.fresh = of.reset == 0;
  epoch.start = ns(begun, of.raw->iteration.first);
  epoch.steps = of.raw->steps;
  epoch.consumed = of.raw->consumed;
  epoch.finish = of.raw->finish;
  epoch.finished = of.raw->finished;
  epoch.ready.assign(loader_.workers, 0);
  std::map<std::uint32_t, Rows> by_worker;
  for (const auto& [index, row] : of.raw->batches)
    if (row.batch.fetched == Fetched::made && row.batch.fetch.known())
      by_worker[worker_of(row)].push_back(&row);
  Moves moves;
  for (auto& [worker, rows] : by_worker) {
    std::sort(rows.begin(), rows.end(), [](const RawBatch* a, const RawBatch* b) {
      return a->batch.fetch.start < b->batch.fetch.start;
    });
    if (worker < epoch.ready.size()) epoch.ready[worker] = ns(begun, rows.front()->batch.fetch.start);
    add_worker(rows, epoch.fresh, moves);
  }
  std::uint64_t settled = 0;  // when the last worker began
  for (const auto& [worker, rows] : by_worker) settled = std::max(settled, rows.front()->batch.fetch.start);
  for (const auto& [index, row] : of.raw->batches) {
    if (row.batch.fetched != Fetched::made || !row.batch.fetch.known()) continue;
    epoch.batches.push_back(batch_of(row, moves[&row]));
    epoch.batches.back().settled = row.batch.fetch.start >= settled;
  }
  if (!epoch.batches.empty()) recording_.epochs.push_back(std::move(epoch));
}

// Missing values of a batch are replaced by the median.
void fill_unknown(Recording& recording) {
  std::vector<double> transfers;
  double cpu = 0;
  double wall = 0;
  for (const auto& epoch : recording.epochs)
    for (const auto& batch : epoch.batches) {
      if (batch.transfer >= 0) transfers.push_back(batch.transfer);
      if (batch.fetch_cpu >= 0) {
        cpu += batch.fetch_cpu;
        wall += batch.fetch;
      }
    }
  const double share = wall > 0 ? cpu / wall : 1;
  const double transfer = median(transfers);
  for (auto& epoch : recording.epochs) {
    for (auto& batch : epoch.batches) {
      if (batch.transfer < 0) batch.transfer = transfer;
      if (batch.fetch_cpu < 0) batch.fetch_cpu = batch.fetch * share;
    }
    for (auto& step : epoch.steps) {
      recording.step_cpu_known = recording.step_cpu_known && step.cpu >= 0;
      step.cpu = std::max(0.0, step.cpu);
    }
  }
}

// A worker is slow if its fetches take clearly longer than those of the middle worker: by 15 % and by three
// standard errors.
std::vector<double> slowness_of(const Recording& recording) {
  struct Sums {
    double n = 0, sum = 0, squares = 0;
    double mean() const { return sum / n; }
    double error() const { return std::sqrt(std::max(0.0, squares / n - mean() * mean()) / n); }
  };
  std::map<std::uint32_t, Sums> by_worker;
  for (const auto& epoch : recording.epochs)
    for (const auto& batch : epoch.batches) {
      Sums& sums = by_worker[batch.worker];
      sums.n += 1;
      sums.sum += batch.fetch;
      sums.squares += batch.fetch * batch.fetch;
    }
  std::vector<double> means;
  means.reserve(by_worker.size());
  for (const auto& [worker, sums] : by_worker) means.push_back(sums.mean());
  std::sort(means.begin(), means.end());
  std::vector<double> slowness(recording.loader.workers, 1);
  if (means.size() < 2) return slowness;
  const double middle = means[(means.size() - 1) / 2];
  for (const auto& [worker, sums] : by_worker) {
    const bool clear = sums.n >= 4 && sums.mean() > 1.15 * middle && sums.mean() - 3 * sums.error() > middle;
    if (clear && worker < slowness.size()) slowness[worker] = sums.mean() / middle;
  }
  return slowness;
}

void Assembly::finish() {
  const auto count = static_cast<double>(std::max<std::uint64_t>(1, recording_.batches));
  recording_.overheads = {usual(dispatch_), usual(between_), own_ / count, usual(handover_)};
  if (unsized_) {
    recording_.unit = "batches";
    recording_.achieved.images = static_cast<double>(recording_.batches);
  }
  recording_.transfer_known = loader_.workers > 0;
  fill_unknown(recording_);
  recording_.slowness = slowness_of(recording_);
  if (loader_.workers > 0) return;
  double fetch = 0;  // fetches lie inside of __next__
  double kept = 0;
  for (const auto& epoch : recording_.epochs)
    for (const auto& batch : epoch.batches) {
      fetch += batch.fetch;
      kept += 1;
    }
  if (kept > 0) recording_.overheads.own = std::max(0.0, recording_.overheads.own - fetch / kept);
}

// Which operations run only when a worker has just been started. Where workers hardly make more than their
// first batches, that is not known.
void mark_first_only(Recording& recording) {
  constexpr double kFewestLater = 3;  // for each first one
  std::vector<bool> in_first(recording.ops.size()), in_later(recording.ops.size());
  double first = 0, all = 0;
  for (const auto& epoch : recording.epochs) {
    std::set<std::uint32_t> seen;
    for (const auto& batch : epoch.batches) {
      const bool is_first = epoch.fresh && seen.insert(batch.worker).second;
      first += is_first ? 1 : 0;
      ++all;
      for (const OpTime& time : batch.ops) (is_first ? in_first : in_later)[time.op] = true;
    }
  }
  if (recording.loader.workers == 0 || all - first < kFewestLater * first) return;
  for (std::size_t op = 0; op < recording.ops.size(); ++op)
    recording.ops[op].first_only = in_first[op] && !in_later[op];
}

}  // namespace

Recording recording_of(const Trace& trace, const Process& training, const Loader& loader,
                       std::vector<EpochOf> epochs, const std::vector<RecordedOp>& ops) {
  Recording recording;
  recording.file = trace.source.path();
  recording.pid = training.pid;
  recording.torch = training.torch;
  recording.unit = trace.catalog.sample_unit();
  recording.loader = loader;
  recording.cores = static_cast<double>(training.cores);
  recording.ops = ops;
  for (auto& op : recording.ops) op.self *= trace.clock.ns_per_tick();
  std::sort(epochs.begin(), epochs.end(), [](const EpochOf& a, const EpochOf& b) {
    return a.raw->iteration.first < b.raw->iteration.first;
  });
  Assembly assembly(trace, loader, recording);
  for (const auto& epoch : epochs) assembly.add(epoch);
  assembly.finish();
  mark_first_only(recording);
  return recording;
}

}  // namespace lotus::analyzer
