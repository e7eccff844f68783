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
  const auto [slot, fresh] = iterations_.try_emplace(iteration_of(span));
  const auto took = static_cast<double>(ns(span.data.start, span.end));
  finding.next += took;
  if (!fresh) finding.next_later += took;
  if (const auto step = slot->second.add(span)) finding.step.add(ns(step->start, step->end));
}

void RankCollector::on_batch(const Batch& batch) {
  RankFinding* finding = finding_of(*batch.key.training);
  if (finding == nullptr) return;
  if (batch.waited()) finding->wait.add(wait_ns(batch, trace_->clock));
  if (batch.consumed == kUnknown) return;
  ++finding->batches;
  finding->samples += batch.samples;
  unsized_ = unsized_ || batch.unsized;
}

void RankCollector::end() {
  for (const auto& [key, iteration] : iterations_) {
    RankFinding* finding = finding_of(*std::get<0>(key));
    if (finding == nullptr) continue;
    const auto loop = static_cast<double>(trace_->clock.duration_ns(iteration.ticks()));
    finding->loop += loop;
    finding->time += static_cast<double>(ns(begin_of(key, iteration), iteration.first)) + loop;
  }
  iterations_.clear();
}

RankFindings RankCollector::take() {
  if (unsized_) findings_.unit = "batches";
  for (auto& [number, finding] : ranks_) {
    if (unsized_) finding.samples = finding.batches;
    findings_.ranks.push_back(std::move(finding));
  }
  ranks_.clear();
  by_process_.clear();
  return std::move(findings_);
}

}  // namespace lotus::analyzer
