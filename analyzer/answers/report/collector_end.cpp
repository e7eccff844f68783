// The findings that are only known at the end of a trace, or of all traces.
#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "answers/report/collector.hpp"
#include "answers/report/cut_short.hpp"

namespace lotus::analyzer {
namespace {

// What a loop of records and signals, as they are measured when a process starts, cannot show: in a pipeline
// the data of samples has driven the tracer's code and the kernel's out of the caches. From the CPU time that
// Lotus adds to an ImageNet-style pipeline, bench/parts (docs/costs.md).
constexpr double kVisitNs = 1500;   // records after a pause, Reading::kApartNs
constexpr double kSignalNs = 5000;  // a stack sample's signal

}  // namespace

// Spans that never ended count until the process's last record.
void FindingsCollector::fold_unended(const Reading& reading) {
  for (const auto& [process, kind, start] : unended_) {
    const auto extent = reading.by_process.find(process->number);
    if (extent == reading.by_process.end()) continue;
    const auto lasted = static_cast<double>(ns(Interval{start, extent->second.last}));
    (kind == Kind::fetch ? findings_.fetch_time : worker_of(*process).life) += lasted;
    if (kind == Kind::fetch) findings_.unended_fetch += lasted;
  }
  unended_.clear();
}

void FindingsCollector::end(const Reading& reading) {
  recorder_.end();
  findings_.quality.own_cost += native_.cost();
  native_.end();
  fold_beside();
  pools_.end(trace_->stacks);
  fold_reads();
  facts_.end();
  counters_.reset();
  for (const auto& [number, process] : trace_->catalog.processes()) {
    if (process->worker_of) continue;
    for (const Stop& stop : process->stops)
      activity_.note_stop(trace_->clock.ns(stop.since), trace_->clock.ns(stop.since + stop.ticks));
  }
  for (const Standstill& standstill : activity_.standstills()) findings_.standstills.push_back(standstill);
  fold_unended(reading);
  std::set<const Process*> training;
  for (const auto& [key, loop] : loops_) training.insert(std::get<0>(key));
  const auto duration = static_cast<double>(trace_->clock.duration_ns(reading.whole.ticks()));
  findings_.duration += duration;
  findings_.wall += duration * static_cast<double>(std::max<std::size_t>(1, training.size()));
  findings_.processes += reading.by_process.size();
  note_killed_training();
  fold_loops();
  fold_quality(reading);
  for (CutShort& cut : findings_.cut_short) {
    const auto extent = reading.by_process.find(cut.process->number);
    if (cut.silent_since == 0 && extent != reading.by_process.end())
      cut.silent_since = trace_->clock.ns(extent->second.last);
  }
}

// A training process that was killed outside of its loaders has no open span that would show it.
void FindingsCollector::note_killed_training() {
  std::map<const Process*, const Loop*> latest;
  for (const auto& [key, loop] : loops_) {
    const Loop*& known = latest[std::get<0>(key)];
    if (known == nullptr || known->last < loop.last) known = &loop;
  }
  for (const CutShort& cut : findings_.cut_short) latest.erase(cut.process);  // listed already
  for (const auto& [process, loop] : latest)
    if (process->ending == Ending::killed)
      findings_.cut_short.push_back(killed_training(*trace_, *process, *loop, last_batches_[process].batch));
  last_batches_.clear();
}

namespace {

// What loops of one thread last: one that steps through several loaders at once is as long as one of them.
struct ThreadLoops {
  std::uint64_t sum = 0;  // ticks
  std::vector<Interval> whole;

  std::uint64_t ticks() {
    std::sort(whole.begin(), whole.end(),
              [](const Interval& a, const Interval& b) { return a.start < b.start; });
    std::uint64_t covered = 0, until = 0;
    for (const Interval& one : whole) {
      covered += Interval{std::max(one.start, until), std::max(one.end, until)}.ticks();
      until = std::max(until, one.end);
    }
    return std::min(sum, covered);
  }
};

}  // namespace

void FindingsCollector::fold_loops() {
  for (const auto& [key, loop] : loops_) {
    const auto& [process, iterator, reset] = key;
    LoaderFinding& loader = loader_of(*process, iterator);
    const auto lasted = static_cast<double>(trace_->clock.duration_ns(loop.ticks()));
    const auto missing = static_cast<double>(trace_->clock.duration_ns(loop.missing));
    facts_.add_loop(key, loop);
    loader.next += loop.next;
    loader.loop += lasted;
    note_taker(*process, loop, loader);
    ++loader.epochs;
    EpochsFinding& epochs =
        process->epoch_number_of(iterator, reset) > 0 ? loader.later_epochs : loader.first_epoch;
    epochs.waited += loop.next;
    epochs.loop += lasted;
    findings_.wall = std::max(lasted, findings_.wall - missing);
    findings_.quality.missing_loop += missing;
    findings_.quality.busy += lasted;
    findings_.cores = std::max(findings_.cores, process->cores);
  }
  note_loops_at_once();
  loops_.clear();
}

// Whether a loader's batches are taken elsewhere is known once all its loops are.
void FindingsCollector::note_loops_at_once() {
  std::map<std::pair<const Process*, const Stream*>, ThreadLoops> threads;
  for (const auto& [key, loop] : loops_) {
    const auto& [process, iterator, reset] = key;
    if (loader_of(*process, iterator).taken_elsewhere()) continue;
    ThreadLoops& thread = threads[{process, loop.stream()}];
    thread.sum += loop.ticks();
    thread.whole.push_back({loop.first, loop.last});
  }
  for (auto& [key, thread] : threads)
    findings_.at_once += static_cast<double>(trace_->clock.duration_ns(thread.sum - thread.ticks()));
}

void FindingsCollector::note_taker(const Process& training, const Loop& loop, LoaderFinding& loader) {
  const std::uint64_t steps = loop.trained_elsewhere();
  if (steps == 0) return;
  loader.next_elsewhere += loop.next;
  loader.taker.steps += steps;
  loader.taker.tid = loop.tid;
  for (const auto& [stream, thread] : training.threads)
    if (thread.tid == loop.tid) loader.taker.name = thread.name;
}

// Of loaders whose batches another thread takes, the waits and what lies between them are that thread's.
void FindingsCollector::leave_out_taken_elsewhere() {
  bool any = false;
  for (LoaderFinding& loader : findings_.loaders) {
    if (!loader.taken_elsewhere()) {
      any = any || loader.loop > 0;
      findings_.next += loader.next;
      findings_.loop += loader.loop;
      continue;
    }
    loader.train_step = loader.wait = Series();
    for (EpochsFinding* epochs : {&loader.first_epoch, &loader.later_epochs})
      epochs->waited = epochs->loop = 0;
  }
  findings_.loop = std::max(0.0, findings_.loop - findings_.at_once);
  const bool elsewhere = std::any_of(findings_.loaders.begin(), findings_.loaders.end(),
                                     [](const LoaderFinding& loader) { return loader.taken_elsewhere(); });
  if (elsewhere && !any) findings_.train_step = findings_.wait = Series();
}

void FindingsCollector::fold_reads() {
  for (const auto& [key, reads] : facts_.reads()) {
    LoaderFinding& loader = loader_of(*key.first, key.second);
    loader.first_epoch.read = loader.first_epoch.read.value_or(0) + reads.first;
    loader.later_epochs.read = loader.later_epochs.read.value_or(0) + reads.later;
  }
}

void FindingsCollector::fold_quality(const Reading& reading) {
  QualityFinding& quality = findings_.quality;
  std::uint64_t told = 0;
  for (const auto& [number, process] : trace_->catalog.processes()) {
    const auto extent = reading.by_process.find(number);
    const double pairs =
        extent == reading.by_process.end() ? 0 : static_cast<double>(extent->second.records) / 2;
    quality.own_cost += pairs * static_cast<double>(process->pair_cost_ps) / 1000;
    if (extent != reading.by_process.end())
      quality.own_cost += kVisitNs * static_cast<double>(extent->second.visits);
    quality.own_cost += static_cast<double>(process->start_cost_ns);
    for (const Tried& tried : process->tried)
      if (std::find(findings_.tried.begin(), findings_.tried.end(), tried) == findings_.tried.end())
        findings_.tried.push_back(tried);
    if (process->timers_refused) {
      ++quality.without_timers;
      quality.timers_refused = *process->timers_refused;
    }
    if (!process->end) continue;
    told += process->end->lost_events;
    quality.lost_definitions += process->end->lost_definitions;
    quality.dropped_spans += process->end->dropped_spans;
    quality.own_cost += static_cast<double>(trace_->clock.duration_ns(process->end->flush_ticks));
  }
  quality.own_cost += kSignalNs * static_cast<double>(reading.stack_samples);
  quality.python_calls.add(reading.python_calls);
  quality.own_cost += static_cast<double>(reading.python_calls.ns);
  quality.events += reading.whole.records;
  quality.lost_events += std::max(told, reading.lost_records);
  quality.gaps += reading.gaps;
  quality.unrecorded_workers += trace_->catalog.unrecorded_workers();
  quality.missing_workers += trace_->catalog.missing_workers();
  quality.open_spans += reading.open_spans;
  quality.truncated = quality.truncated || trace_->truncated();
  quality.interrupted = quality.interrupted || (trace_->trailer && trace_->trailer->interrupted != 0);
  quality.calibrated = quality.calibrated && trace_->clock.calibrated();
  for (const Damage* damage : {&trace_->damage, &reading.damage}) {
    quality.damage.count += damage->count;
    quality.damage.bytes += damage->bytes;
    quality.damage.events += damage->events;
  }
}

// Orders loaders by file, process and id, independently of the order of chunks.
void FindingsCollector::sort_loaders() {
  auto& loaders = findings_.loaders;
  const auto key = [&](std::size_t i) {
    const LoaderFinding& l = loaders[i];
    return std::tuple(l.file, l.training->number, l.loader ? l.loader->id : 0);
  };
  std::vector<std::size_t> order(loaders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<std::size_t> place(order.size());
  std::vector<LoaderFinding> sorted;
  for (const std::size_t old : order) {
    place[old] = sorted.size();
    sorted.push_back(std::move(loaders[old]));
  }
  for (auto& worker : findings_.workers)
    if (worker.loader) worker.loader = place[*worker.loader];
  loaders = std::move(sorted);
}

namespace {

// Calling operations in turn takes each runner some µs. Below this and kLeastOfRunner it does nothing else,
// and what it takes is told with all that is outside of operations.
constexpr double kLeastOfCall = 50'000;  // ns, median

bool is_idle_runner(const OpFinding& op, const Findings& findings) {
  return op.op.role == OpRole::runner &&
         (op.fetch_self < kLeastOfRunner * findings.fetch_time || op.wall.summary().p50 < kLeastOfCall);
}

}  // namespace

Findings FindingsCollector::take() {
  for (auto& op : ops_)
    if ((!op.wall.empty() || op.errors > 0) && !is_idle_runner(op, findings_)) {
      op.native = native_.finding_of(op.op);
      findings_.ops.push_back(std::move(op));
    }
  std::sort(findings_.ops.begin(), findings_.ops.end(), [](const OpFinding& a, const OpFinding& b) {
    return a.fetch_self != b.fetch_self ? a.fetch_self > b.fetch_self : a.op.name < b.op.name;
  });
  std::stable_sort(findings_.workers.begin(), findings_.workers.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.file, a.process->number) < std::tuple(b.file, b.process->number);
  });
  double inside = 0;
  for (const auto& op : findings_.ops) inside += op.fetch_self;
  findings_.outside_ops = std::max(0.0, findings_.fetch_time - inside);
  findings_.making_time = std::max(findings_.fetch_time, inside);
  findings_.unmeasured_share = find_unmeasured_share(findings_);
  sort_loaders();
  leave_out_taken_elsewhere();
  findings_.own_functions = native_.own_functions();
  findings_.waits = native_.waits();
  findings_.sampled.pools = pools_.take();
  findings_.slow = slow_.rows();
  std::stable_sort(findings_.stuck.begin(), findings_.stuck.end(),
                   [](const Stuck& a, const Stuck& b) { return a.at_least > b.at_least; });
  std::stable_sort(findings_.cut_short.begin(), findings_.cut_short.end(),
                   [](const CutShort& a, const CutShort& b) { return a.silent_since < b.silent_since; });
  findings_.recordings = recorder_.take();
  findings_.facts = facts_.take();
  findings_.facts.read_in_fetches = native_.read_in_fetches();
  findings_.facts.garbage.sampled = native_.share_collecting();
  for (ReopenedFinding& file : findings_.facts.reopened) {
    const auto format = format_of(file.path);
    if (!format) continue;
    file.format = name_of_format(*format);
    file.cpu_share = native_.share_of_format(*format);
  }
  return std::move(findings_);
}

}  // namespace lotus::analyzer
