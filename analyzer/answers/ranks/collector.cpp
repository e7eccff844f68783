#include "answers/ranks/collector.hpp"

#include <algorithm>

namespace lotus::analyzer {

void RankCollector::begin(const Trace& trace) {
  trace_ = &trace;
  findings_.files.push_back(trace.source.path());
  findings_.unit = trace.catalog.sample_unit();
}

RankFinding* RankCollector::finding_of(const Process& process) {
  const auto [slot, fresh] = by_process_.try_emplace(&process, nullptr);
  if (!fresh || !process.rank) return slot->second;
  findings_.world = std::max(findings_.world, process.rank->world);
  RankFinding& finding = ranks_[process.rank->rank];
  finding.rank = process.rank->rank;
  finding.local = process.rank->local;
  finding.host = process.host;
  return slot->second = &finding;
}

void RankCollector::on_span(const Span& span) {
  RankFinding* finding = finding_of(*span.stream.process);
  if (finding == nullptr || span.ended == Ended::lost) return;
  const std::int64_t took = ns(span.data.start, span.end);
  switch (span.kind()) {
    case Kind::op:
      if (span.is_op()) finding->ops[span.data.op->name].add(took);
      return;
    case Kind::fetch:
      if (span.fetched() == Fetched::made) finding->fetch.add(took);
      return;
    case Kind::worker_loop:
      finding->workers.insert(span.stream.process);
      return;
    case Kind::next:
      return on_next(*finding, span);
    default:
      return;
  }
}

void RankCollector::on_next(RankFinding& finding, const Span& span) {
  finding.training.insert(span.stream.process->pid);
  Loop& loop = loops_[iteration_of(span)];
  const auto took = static_cast<double>(ns(span.data.start, span.end));
  loop.next += took;
  if (loop.first != kUnknown) loop.next_later += took;
  if (const auto step = loop.add(span)) loop.step.add(ns(step->start, step->end));
}

void RankCollector::on_batch(const Batch& batch) {
  if (finding_of(*batch.key.training) == nullptr) return;
  unsized_ = unsized_ || (batch.consumed != kUnknown && batch.unsized);
  Loop& loop = loops_[{batch.key.training, batch.key.iterator, batch.key.reset}];
  if (batch.waited()) loop.wait.add(wait_ns(batch, trace_->clock));
  if (batch.consumed == kUnknown) return;
  ++loop.batches;
  loop.samples += batch.samples;
}

void RankCollector::fold(RankFinding& finding, const IterationKey& key, const Loop& loop) const {
  finding.batches += loop.batches;
  finding.samples += loop.samples;
  if (loop.trained_elsewhere() > 0) {
    finding.next_elsewhere += loop.next;
    return;
  }
  finding.next += loop.next;
  finding.next_later += loop.next_later;
  finding.batches_in_time += loop.batches;
  finding.samples_in_time += loop.samples;
  finding.wait.add(loop.wait);
  finding.step.add(loop.step);
  if (loop.first == kUnknown) return;
  const auto lasted = static_cast<double>(trace_->clock.duration_ns(loop.ticks()));
  finding.loop += lasted;
  finding.time += static_cast<double>(ns(begin_of(key, loop), loop.first)) + lasted;
}

void RankCollector::end() {
  for (const auto& [key, loop] : loops_)
    if (RankFinding* const finding = finding_of(*std::get<0>(key)); finding != nullptr)
      fold(*finding, key, loop);
  loops_.clear();
}

RankFindings RankCollector::take() {
  if (unsized_) findings_.unit = "batches";
  for (auto& [number, finding] : ranks_) {
    if (unsized_) {
      finding.samples = finding.batches;
      finding.samples_in_time = finding.batches_in_time;
    }
    findings_.ranks.push_back(std::move(finding));
  }
  ranks_.clear();
  by_process_.clear();
  return std::move(findings_);
}

}  // namespace lotus::analyzer
