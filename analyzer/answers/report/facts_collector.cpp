#include "answers/report/facts_collector.hpp"

#include <algorithm>

namespace lotus::analyzer {

void FactsCollector::on_span(const Span& span) {
  if (span.kind() == Kind::indices) on_indices(span);
}

void FactsCollector::on_indices(const Span& span) {
  if (span.ended == Ended::lost) return;  // when it ended is not known
  SamplerFinding& sampler = facts_.sampler;
  const auto took = static_cast<double>(trace_->clock.between(span.data.start, span.end));
  const auto& stack = span.stream.stack;
  const bool waits =
      std::any_of(stack.begin(), stack.end(), [](const OpenSpan& open) { return open.kind == Kind::next; });
  ++sampler.calls;
  (field<Kind::indices, "batch">(span.data) == 0 ? sampler.first : sampler.later) += took;
  if (waits) sampler.waited += took;
}

void FactsCollector::add_loop(const IterationKey& key, const Iteration& loop) {
  const std::uint64_t before = Interval{begin_of(key, loop), loop.first}.ticks();
  facts_.sampler.loops += static_cast<double>(trace_->clock.duration_ns(before + loop.ticks()));
}

}  // namespace lotus::analyzer
