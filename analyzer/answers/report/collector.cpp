#include "answers/report/collector.hpp"
#include "answers/memory/recorded_step.hpp"

#include <algorithm>

#include "answers/report/cut_short.hpp"
#include "reading/model/batches.hpp"

namespace lotus::analyzer {
namespace {

constexpr std::int64_t kMs = 1'000'000;

}  // namespace

std::int64_t FindingsCollector::ns(const Span& span) const {
  return trace_->clock.between(span.data.start, span.end);
}

void FindingsCollector::begin(const Trace& trace) {
  trace_ = &trace;
  findings_.files.push_back(trace.source.path());
  op_by_index_.clear();
  recorder_.begin(trace);
  native_.begin(trace);
  facts_.begin(trace);
  const auto& processes = trace.catalog.processes();
  if (std::any_of(processes.begin(), processes.end(),
                  [](const auto& entry) { return !entry.second->counters.empty(); }))
    counters_ = std::make_unique<CounterCollector>(trace, findings_.counters);
  activity_.clear();
  helpers_.clear();
  beside_.clear();
}

OpFinding& FindingsCollector::finding_of(const Op& op) {
  if (op.index >= op_by_index_.size()) op_by_index_.resize(op.index + 1);
  OpFinding*& slot = op_by_index_[op.index];
  if (slot != nullptr) return *slot;
  OpFinding*& shared = op_by_key_[{op.role, op.name, op.qualified, op.file, op.line}];
  if (shared == nullptr) {
    shared = &ops_.emplace_back();
    shared->op = op;
  }
  return *(slot = shared);
}

LoaderFinding& FindingsCollector::loader_of(const Process& training, std::uint64_t iterator) {
  const std::uint64_t id = training.loader_id_of(iterator);
  const auto [slot, fresh] = loader_slots_.try_emplace({&training, id}, findings_.loaders.size());
  if (!fresh) return findings_.loaders[slot->second];
  LoaderFinding& finding = findings_.loaders.emplace_back();
  finding.file = findings_.files.size() - 1;
  finding.training = &training;
  if (const Loader* loader = training.loader_of(iterator)) finding.loader = *loader;
  return finding;
}

WorkerFinding& FindingsCollector::worker_of(const Process& process) {
  const auto [slot, fresh] = worker_slots_.try_emplace(&process, findings_.workers.size());
  if (!fresh) return findings_.workers[slot->second];
  if (process.worker_of) loader_of(*process.worker_of->training, process.worker_of->iterator);
  WorkerFinding& finding = findings_.workers.emplace_back();
  finding.file = findings_.files.size() - 1;
  finding.process = &process;
  if (!process.worker_of) return finding;
  const WorkerOf& of = *process.worker_of;
  finding.id = static_cast<std::int64_t>(of.worker);
  finding.loader = static_cast<std::size_t>(&loader_of(*of.training, of.iterator) - findings_.loaders.data());
  return finding;
}

namespace {

// The threads that make, pickle and send batches have records of their own. So have those of a pool that
// works for them: see Beside.
bool records_itself(const Process& process, std::uint64_t tid) {
  return std::any_of(process.threads.begin(), process.threads.end(),
                     [&](const auto& thread) { return thread.second.tid == tid; });
}

}  // namespace

void FindingsCollector::on_stack_sample(const Process& process, const Record& record, std::uint64_t ticks) {
  native_.on_stack_sample(process, record, ticks);
  note_activity(ticks);
  const double ns = native_.ns_of_sample(process, record);
  findings_.sampled.all += ns;
  if (!process.worker_of) return;
  findings_.sampled.workers += ns;
  const std::uint64_t tid = field<Kind::stack_sample, "tid">(record);
  const std::uint64_t stack = field<Kind::stack_sample, "stack">(record);
  if (!records_itself(process, tid)) return add_helping(process, tid, stack, ns);
  if (tid != process.pid) beside_[{&process, tid}].by_stack[stack] += ns;
}

void FindingsCollector::add_helping(const Process& process, std::uint64_t tid, std::uint64_t stack,
                                    double ns) {
  findings_.sampled.by_helpers += ns;
  pools_.add(stack, ns);
  auto& tids = helpers_[&process];
  constexpr std::size_t kMostThreads = 4096;  // more is damage
  if (tids.size() < kMostThreads) tids.insert(tid);
  findings_.sampled.most_threads = std::max<std::uint64_t>(findings_.sampled.most_threads, tids.size());
}

void FindingsCollector::fold_beside() {
  for (const auto& [thread, beside] : beside_)
    for (const auto& [stack, ns] : beside.by_stack)
      if (!beside.makes) add_helping(*thread.first, thread.second, stack, ns);
  beside_.clear();
}

void FindingsCollector::on_span(const Span& span) {
  recorder_.on_span(span);
  facts_.on_span(span);
  if (counters_) counters_->on_span(span);
  if (span.depth == 0 && span.kind() != Kind::op && span.stream.process->worker_of)
    beside_[{span.stream.process, span.stream.tid()}].makes = true;
  note_activity(span.data.start);
  note_activity(span.end);
  switch (span.kind()) {
    case Kind::op:
      return on_op(span);
    case Kind::sample:
      return on_sample(span);
    case Kind::samples:
      if (span.ended == Ended::returned && !span.data.has_inner)
        findings_.samples += field<Kind::samples, "count">(span.data);
      return;
    case Kind::fetch:
      return on_fetch(span);
    case Kind::next:
      return on_next(span);
    case Kind::worker_loop:
      return on_worker_loop(span.stream, span.data, span.end);
    case Kind::serialize:
      findings_.bytes += static_cast<double>(span.data.bytes);
      if (span.data.storages != kUnknown) {
        findings_.storages = findings_.storages.value_or(0) + static_cast<double>(span.data.storages);
        findings_.storage_bytes += static_cast<double>(span.data.storage_bytes);
      }
      return findings_.serialize.add(ns(span));
    case Kind::send:
      return findings_.send.add(ns(span));
    case Kind::deserialize:
      if (span.ended == Ended::returned) findings_.deserialize.add(ns(span));  // else: no batch
      return;
    case Kind::pin:
      return findings_.pin.add(ns(span));
    default:
      return;
  }
}

void FindingsCollector::on_op(const Span& span) {
  if (!span.is_op()) return on_runner(span);
  OpFinding& finding = finding_of(*span.data.op);
  if (span.ended == Ended::error || span.ended == Ended::lost) ++finding.errors;
  if (span.ended == Ended::lost) return;  // when it ended is not known
  finding.add_call(ns(span), span.cpu_ns());
  finding.python_calls.add(span.data.python_calls);
  const auto self = static_cast<double>(trace_->clock.duration_ns(span.self_ticks()));
  finding.self += self;
  // A thread of a pool makes parts of batches in no fetch of its own, as does training where it asks another
  // library's loader.
  const Kind outermost = span.depth == 0 ? Kind::op : span.stream.stack.front().kind;
  const bool in_pool = outermost == Kind::op || outermost == Kind::next;
  if (span.data.fetch != kNoSpan || in_pool) finding.fetch_self += self;
}

// What a runner does itself between its operations. Inside of an operation it is part of that one.
void FindingsCollector::on_runner(const Span& span) {
  // In imported logs what lies between the operations is mostly the writing of the log.
  if (span.stream.process->pair_cost_ps == 0) return;
  const auto& stack = span.stream.stack;
  const auto is_operation = [](const OpenSpan& open) {
    return open.kind == Kind::op && open.op->role != OpRole::runner;
  };
  if (span.ended == Ended::lost || span.data.fetch == kNoSpan ||
      std::any_of(stack.begin(), stack.end(), is_operation))
    return;
  OpFinding& finding = finding_of(*span.data.op);
  const std::int64_t own = trace_->clock.duration_ns(span.self_ticks());
  finding.add_call(own, std::nullopt);
  finding.self += static_cast<double>(own);
  finding.fetch_self += static_cast<double>(own);
}

void FindingsCollector::on_sample(const Span& span) {
  const bool outermost = span.data.sample == static_cast<std::int32_t>(span.depth);
  if (!outermost || span.ended == Ended::empty || span.ended == Ended::lost) return;
  const std::int64_t took = ns(span);
  if (span.data.whole_batch != kUnknown) return note_whole_batch(span.data.whole_batch);
  findings_.sample.add(took);
  ++findings_.samples;
  if (slow_.takes(took, span.is_workers_first())) keep_slow(span, took);
}

void FindingsCollector::note_whole_batch(std::uint64_t size) {
  findings_.samples += size;
  findings_.unsized = findings_.unsized || size == 0;
}

void FindingsCollector::keep_slow(const Span& span, std::int64_t took) {
  SlowSample sample{field<Kind::sample, "index">(span.data), {}, took, span.stream.process->pid, {}};
  sample.first = span.is_workers_first();
  if (span.data.has_path) sample.path = span.stream.sample_path;
  if (span.data.op != nullptr) sample.op = span.data.op->name;
  slow_.add(std::move(sample));
}

void FindingsCollector::on_fetch(const Span& span) {
  const Fetched fetched = span.fetched();
  if (span.ended == Ended::lost) return;
  findings_.fetch_time += static_cast<double>(ns(span));
  if (span.data.whole_batch != kUnknown) note_whole_batch(span.data.whole_batch);
  if (fetched == Fetched::empty) return;
  if (fetched == Fetched::failed) {
    ++findings_.failed_batches;
    return;
  }
  const std::int64_t took = ns(span);
  const Process& process = *span.stream.process;
  findings_.unsized = findings_.unsized || span.data.unsized;
  findings_.fetch.add(took);
  const double busy = (span.data.has_cpu ? static_cast<double>(span.data.cpu_ns) : 0) +
                      (span.data.core_wait_ns != kUnknown ? static_cast<double>(span.data.core_wait_ns) : 0);
  activity_.note_work(process, false, busy, trace_->clock.ns(span.data.start), trace_->clock.ns(span.end));
  if (span.data.has_cpu) {
    findings_.fetch_cpu += static_cast<double>(span.data.cpu_ns);
    findings_.fetch_cpu_wall += static_cast<double>(took);
  }
  if (span.data.core_wait_ns != kUnknown)
    findings_.core_wait.add(static_cast<double>(span.data.core_wait_ns), static_cast<double>(took));
  if (is_by_training(span.data)) {
    LoaderFinding& loader = loader_of(process, field<Kind::fetch, "iterator">(span.data));
    add_to_epochs(span, static_cast<double>(took), loader.fetch.empty(), loader);
    loader.fetch.add(took);
    return;
  }
  WorkerFinding& worker = worker_of(process);
  if (process.worker_of) {
    LoaderFinding& loader = loader_of(*process.worker_of->training, process.worker_of->iterator);
    add_to_epochs(span, static_cast<double>(took), worker.batches == 0, loader);
    loader.fetch.add(took);
  }
  ++worker.batches;
  worker.fetch += static_cast<double>(took);
  findings_.quality.busy += static_cast<double>(took);
}

// `first`: of its process.
void FindingsCollector::add_to_epochs(const Span& fetch, double took, bool first, LoaderFinding& loader) {
  EpochsFinding& epochs = is_of_later_epoch(fetch) ? loader.later_epochs : loader.first_epoch;
  ++epochs.batches;
  if (first || !fetch.data.has_cpu) return;
  const double wait = fetch.data.core_wait_ns != kUnknown ? static_cast<double>(fetch.data.core_wait_ns) : 0;
  ++epochs.measured;
  epochs.fetch += took;
  epochs.idle += std::max(0.0, took - static_cast<double>(fetch.data.cpu_ns) - wait);
}

void FindingsCollector::on_next(const Span& span) {
  Loop& loop = loops_[iteration_of(span)];
  loop.next += static_cast<double>(ns(span));
  loop.batches += span.ended == Ended::returned ? 1 : 0;
  if (span.ended == Ended::empty && loop.batches > 0)
    loader_of(*span.stream.process, field<Kind::next, "iterator">(span.data)).epoch_batches = loop.batches;
  const auto step = loop.add(span);
  loop.tid = span.stream.tid();
  if (!step) return;
  findings_.train_step.add(ns(*step));
  activity_.note_work(*span.stream.process, true, 0, trace_->clock.ns(step->start),
                      trace_->clock.ns(step->end));
  loader_of(*span.stream.process, field<Kind::next, "iterator">(span.data)).train_step.add(ns(*step));
}

void FindingsCollector::on_worker_loop(const Stream& stream, const OpenSpan& span, std::uint64_t end) {
  WorkerFinding& worker = worker_of(*stream.process);
  worker.id = static_cast<std::int64_t>(field<Kind::worker_loop, "worker">(span));
  worker.life += static_cast<double>(ns({span.start, end}));
}

void FindingsCollector::on_open_span(const Stream& stream, const OpenSpan& span, std::size_t depth) {
  if (depth == 0) {
    add_cut_short(*trace_, stream, findings_);
    add_stuck(*trace_, stream, findings_);
  }
  if (span.kind == Kind::worker_loop) on_worker_loop(stream, span, span.start);
  if (span.kind == Kind::worker_loop || span.kind == Kind::fetch)
    unended_.push_back({stream.process, span.kind, span.start});
}

void FindingsCollector::on_point(const Stream& stream, const Record& record, std::uint64_t ticks) {
  recorder_.on_point(stream, record, ticks);
  facts_.on_point(stream, record);
  if (counters_) counters_->on_point(stream, record, ticks);
  note_activity(ticks);
  if (record.kind == Kind::torch_op) findings_.quality.own_cost += memory::kRecordedOperatorNs;
  if (record.kind != Kind::received) return;
  const std::uint64_t outstanding = field<Kind::received, "outstanding">(record);
  if (outstanding == kUnknown) return;  // imported ones may not say it
  ++findings_.queue_samples;
  findings_.queue_sum += static_cast<double>(outstanding);
  findings_.queue_most = std::max(findings_.queue_most, outstanding);
}

void FindingsCollector::on_batch(const Batch& batch) {
  recorder_.on_batch(batch);
  if (batch.waited()) {
    const std::int64_t took = wait_ns(batch, trace_->clock);
    findings_.wait.add(took);
    loader_of(*batch.key.training, batch.key.iterator).wait.add(took);
    findings_.out_of_order += batch.out_of_order ? 1 : 0;
    findings_.wait_over_500ms += took > 500 * kMs ? 1 : 0;
    findings_.wait_over_1ms += took > kMs ? 1 : 0;
    findings_.wait_under_1ms_in_order += took < kMs && !batch.out_of_order ? 1 : 0;
  }
  if (batch.consumed == kUnknown) return;
  LastBatch& last = last_batches_[batch.key.training];
  if (batch.consumed >= last.consumed) last = {batch.consumed, batch.key.batch};
  if (batch.fetched == Fetched::elsewhere) {
    ++loader_of(*batch.key.training, batch.key.iterator).given;
    note_whole_batch(batch.unsized ? 0 : batch.samples);
  }
  if (batch.fetched != Fetched::made) return;
  const std::int64_t delay = trace_->clock.ns(batch.consumed) - trace_->clock.ns(batch.fetch.end);
  findings_.delay.add(delay);
  findings_.delay_over_500ms += delay > 500 * kMs ? 1 : 0;
  findings_.delay_under_250ms += delay < 250 * kMs ? 1 : 0;
}

}  // namespace lotus::analyzer
