#include "answers/replay/recorder.hpp"

#include <algorithm>
#include <utility>

#include "answers/stacks/library_code.hpp"
#include "reading/model/lock_hooks.hpp"

namespace lotus::analyzer {

void RunningOps::add(std::uint32_t op, float ticks) {
  const auto few = times_.begin() + static_cast<std::ptrdiff_t>(std::min(kFew, times_.size()));
  const auto hit = std::find_if(times_.begin(), few, [&](const OpTime& time) { return time.op == op; });
  if (hit != few) {
    hit->ns += ticks;
    return;
  }
  times_.push_back({op, ticks});
  if (times_.size() < merge_at_) return;
  merge();
  merge_at_ = std::max(4 * kFew, 2 * times_.size());
}

void RunningOps::merge() {
  std::stable_sort(times_.begin(), times_.end(),
                   [](const OpTime& a, const OpTime& b) { return a.op < b.op; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < times_.size(); ++i) {
    if (times_[i].op == times_[last].op)
      times_[last].ns += times_[i].ns;
    else
      times_[++last] = times_[i];
  }
  times_.resize(last + 1);
}

std::vector<OpTime> RunningOps::take() {
  if (times_.size() > kFew) merge();
  merge_at_ = 4 * kFew;
  return std::exchange(times_, {});
}

void Recorder::begin(const Trace& trace) {
  trace_ = &trace;
  ops_.clear();
  for (const auto& [number, process] : trace.catalog.processes())
    for (const auto& [key, epoch] : process->epochs) {
      const auto loader = process->iterators.find(key.first);
      if (loader == process->iterators.end()) continue;
      std::uint64_t& all = epochs_of_loader_[{process.get(), loader->second}];
      all = std::max(all, epoch.number + 1);
    }
}

RunningOps& Recorder::running(const Stream& stream) {
  if (last_stream_ != &stream) {
    last_stream_ = &stream;
    last_running_ = &running_[&stream];
  }
  return *last_running_;
}

// Chunks come in any order, so only an epoch's number decides whether it is kept.
RawEpoch& Recorder::epoch_of(const Process& training, std::uint64_t iterator, std::uint64_t reset) {
  const auto [slot, fresh] = epochs_.try_emplace({&training, iterator, reset});
  if (!fresh) return slot->second;
  const auto loader = training.iterators.find(iterator);
  const Epoch* const epoch = training.epoch_of(iterator, reset);
  if (loader == training.iterators.end() || epoch == nullptr) return slot->second;
  const std::uint64_t all = epochs_of_loader_[{&training, loader->second}];
  const std::uint64_t stride = (all + kMostEpochs - 1) / kMostEpochs;
  slot->second.kept = epoch->number % std::max<std::uint64_t>(1, stride) == 0;
  return slot->second;
}

RawBatch* Recorder::batch_of(RawEpoch& epoch, std::uint64_t index) {
  if (!epoch.kept || index >= kMostBatches) return nullptr;
  return &epoch.batches[index];
}

void Recorder::on_span(const Span& span) {
  switch (span.kind()) {
    case Kind::op:
      return on_op(span);
    case Kind::fetch:
      return on_fetch(span);
    case Kind::sample:
      return on_sample(span);
    case Kind::get:
      return on_get(span);
    case Kind::next:
      return on_next(span);
    default:
      return;
  }
}

namespace {

// The operation that calls the one of `span`; runners are skipped. nullptr: the fetch itself.
const Op* caller_of(const Span& span) {
  for (std::size_t depth = span.depth; depth-- > static_cast<std::size_t>(span.data.fetch);) {
    const OpenSpan& outer = span.stream.stack[depth];
    if (outer.kind == Kind::op && outer.op->role != OpRole::runner) return outer.op;
  }
  return nullptr;
}

void add_nested(RecordedOp& op, std::uint32_t nested) {
  const bool known = std::find(op.nested.begin(), op.nested.end(), nested) != op.nested.end();
  if (!known && op.nested.size() < kMostNested) op.nested.push_back(nested);
}

}  // namespace

void Recorder::on_op(const Span& span) {
  if (!span.is_op() || span.data.fetch == kNoSpan || span.ended == Ended::lost) return;
  const Op& op = *span.data.op;
  const Op* const caller = caller_of(span);
  const std::uint32_t last = caller == nullptr ? op.index : std::max(op.index, caller->index);
  if (last >= ops_.size()) ops_.resize(last + 1);
  if (caller != nullptr && caller->name != op.name) add_nested(ops_[caller->index], op.index);
  RecordedOp& sum = ops_[op.index];
  if (sum.calls++ == 0) {
    sum.name = op.name;
    sum.role = op.role;
    if (op.role == OpRole::frame) sum.library = library_of(op.file);
  }
  const auto self = static_cast<double>(span.self_ticks());
  sum.self += self;
  sum.cpu.add(trace_->clock.duration_ns(span.ticks()), span.cpu_ns());
  running(span.stream).add(op.index, static_cast<float>(self));
}

// A sample of a worker that gave one.
void Recorder::on_sample(const Span& span) {
  constexpr std::size_t kMostEnds = 1 << 15;
  const auto& of = span.stream.process->worker_of;
  const bool outermost = span.data.sample == static_cast<std::int32_t>(span.depth);
  if (!of || !outermost || span.ended != Ended::returned) return;
  auto& ends = sample_ends_[{of->training, of->training->loader_id_of(of->iterator)}];
  if (ends.size() < kMostEnds) ends.push_back({span.end, span.stream.process, span.ticks()});
}

void Recorder::on_native(const Stream& stream, const Record& record) {
  const auto hook = stream.process->hooks.find(field<Kind::native, "hook">(record));
  if (hook != stream.process->hooks.end() && is_shared_lock_hook(hook->second.name))
    locked_ticks_[&stream] += field<Kind::native, "ticks">(record);
}

void Recorder::on_fetch(const Span& span) {
  auto times = running(span.stream).take();
  std::uint64_t locked = 0;
  if (const auto waited = locked_ticks_.find(&span.stream); waited != locked_ticks_.end())
    locked = std::exchange(waited->second, 0);
  const Process* training = span.stream.process;
  std::uint64_t iterator = field<Kind::fetch, "iterator">(span.data);
  if (iterator == 0 && training->worker_of) {
    iterator = training->worker_of->iterator;
    training = training->worker_of->training;
  }
  if (iterator == 0) return;
  RawEpoch& epoch = epoch_of(*training, iterator, field<Kind::fetch, "reset">(span.data));
  epoch.iterable = epoch.iterable || span.fetched() == Fetched::empty;
  RawBatch* const row = batch_of(epoch, field<Kind::fetch, "batch">(span.data));
  if (row == nullptr) return;
  row->ops = std::move(times);
  if (span.data.has_cpu) row->cpu_ns = span.data.cpu_ns;
  const std::uint64_t before = span.data.process_cpu_before;
  if (before != kUnknown && span.data.process_cpu_after > before)
    row->process_cpu_ns = span.data.process_cpu_after - before;
  if (span.data.core_wait_ns != kUnknown) row->core_wait_ns = span.data.core_wait_ns;
  row->lock_wait = locked;
}

void Recorder::on_point(const Stream& stream, const Record& record, std::uint64_t) {
  if (record.kind == Kind::received)
    epoch_of(*stream.process, field<Kind::received, "iterator">(record),
             field<Kind::received, "reset">(record))
        .received = field<Kind::received, "batch">(record);
}

void Recorder::on_get(const Span& span) {
  RawEpoch& epoch = epoch_of(*span.stream.process, field<Kind::get, "iterator">(span.data),
                             field<Kind::get, "reset">(span.data));
  const bool waiting = span.parent != nullptr && span.parent->kind == Kind::wait;
  if (waiting) epoch.get += static_cast<double>(trace_->clock.duration_ns(span.ticks()));
  if (epoch.received != kUnknown) {
    if (RawBatch* const row = batch_of(epoch, epoch.received)) row->get = {span.data.start, span.end};
  }
  epoch.received = kUnknown;
}

void Recorder::on_next(const Span& span) {
  RawEpoch& epoch = epoch_of(*span.stream.process, field<Kind::next, "iterator">(span.data),
                             field<Kind::next, "reset">(span.data));
  const auto took = static_cast<double>(trace_->clock.duration_ns(span.ticks()));
  const std::uint64_t before = span.data.process_cpu_before;
  const auto step = epoch.iteration.add(span);
  if (step && epoch.kept && epoch.steps.size() < kMostBatches) {
    const bool known =
        before != kUnknown && epoch.cpu_before_step != kUnknown && before >= epoch.cpu_before_step;
    const auto inner = static_cast<double>(
        known ? std::min(epoch.iteration.inner_cpu_ns, before - epoch.cpu_before_step) : 0);
    epoch.steps.push_back({static_cast<double>(trace_->clock.between(step->start, step->end)),
                           known ? static_cast<double>(before - epoch.cpu_before_step) - inner : -1});
  }
  epoch.cpu_before_step = span.data.process_cpu_after;
  epoch.consumed += epoch.iteration.stepping ? 1 : 0;
  if (epoch.iteration.stepping) epoch.first_got = std::min(epoch.first_got, span.end);
  epoch.next += took;
  if (span.ended == Ended::empty || (span.ended == Ended::error && epoch.consumed > 0)) {
    epoch.finished = true;
    epoch.finish = took;
  }
}

void Recorder::on_batch(const Batch& batch) {
  if (batch.key.training == nullptr || batch.key.iterator == 0) return;
  RawEpoch& epoch = epoch_of(*batch.key.training, batch.key.iterator, batch.key.reset);
  if (batch.consumed != kUnknown) {
    ++(batch.fetched == Fetched::unknown ? epoch.unseen : epoch.seen);
    epoch.images += static_cast<double>(batch.samples);
    epoch.unsized = epoch.unsized || batch.unsized;
  }
  epoch.made += batch.fetched == Fetched::made ? 1 : 0;
  if (RawBatch* const row = batch_of(epoch, batch.key.batch)) row->batch = batch;
}

// A larger number of workers is damage: no machine runs as many, and a replay would simulate each.
static bool plausible(const Loader& loader) { return loader.workers <= 4096 && loader.prefetch <= 65536; }

// Only ends with all workers at work: each of them began its next sample before the one after ended.
TakingTurns Recorder::turns_of(std::vector<SampleEnd> ends, std::uint64_t workers) {
  TakingTurns turns;
  if (workers < 2 || ends.empty()) return turns;
  std::sort(ends.begin(), ends.end(), [](const SampleEnd& a, const SampleEnd& b) { return a.at < b.at; });
  double length = 0;
  for (const SampleEnd& end : ends) length += static_cast<double>(end.ticks);
  // Mean distance of two ends if all workers are at work.
  const double mean = length / static_cast<double>(ends.size()) / static_cast<double>(workers);
  for (std::size_t i = 1; i < ends.size(); ++i) {
    const auto gap = static_cast<double>(ends[i].at - ends[i - 1].at);
    if (ends[i].worker == ends[i - 1].worker || gap > 3 * mean) continue;
    ++turns.gaps;
    turns.close += gap < mean / 2 ? 1 : 0;
  }
  return turns;
}

void Recorder::end() {
  std::map<std::pair<const Process*, std::uint64_t>, std::vector<EpochOf>> by_loader;
  for (const auto& [key, epoch] : epochs_) {
    const auto& [training, iterator, reset] = key;
    const Loader* loader = training->loader_of(iterator);
    if (loader != nullptr) by_loader[{training, loader->id}].push_back({training, iterator, reset, &epoch});
  }
  for (auto& [key, epochs] : by_loader) {
    const auto& [training, id] = key;
    const Loader& loader = training->loaders.at(id);
    if (!plausible(loader)) continue;
    recordings_.push_back(recording_of(*trace_, *training, loader, std::move(epochs), ops_));
    recordings_.back().turns = turns_of(std::move(sample_ends_[{training, id}]), loader.workers);
  }
  epochs_.clear();
  epochs_of_loader_.clear();
  sample_ends_.clear();
  locked_ticks_.clear();
  running_.clear();
  last_stream_ = nullptr;
}

std::vector<Recording> Recorder::take() {
  std::stable_sort(recordings_.begin(), recordings_.end(),
                   [](const Recording& a, const Recording& b) { return a.achieved.next > b.achieved.next; });
  return std::move(recordings_);
}

}  // namespace lotus::analyzer
