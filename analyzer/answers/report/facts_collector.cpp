#include "answers/report/facts_collector.hpp"

#include <algorithm>

#include "reading/model/lock_hooks.hpp"

namespace lotus::analyzer {

void FactsCollector::on_span(const Span& span) {
  const auto ns = static_cast<double>(trace_->clock.between(span.data.start, span.end));
  if (span.kind() == Kind::serialize && span.ended != Ended::lost) use_.on_serialize(span, ns);
  if (span.kind() == Kind::indices) on_indices(span);
  if (span.kind() == Kind::pickle_process && span.ended == Ended::returned) {
    facts_.starts.pickling += ns;
    facts_.starts.pickled_bytes += static_cast<double>(span.data.bytes);
  }
  if (span.kind() == Kind::next) dataset_calls_.on_next(span);
  if (span.kind() == Kind::fetch && span.fetched() == Fetched::made && span.ended != Ended::lost)
    use_.on_fetch(span, ns);
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

void FactsCollector::on_started(const Record& record) {
  StartsFinding& starts = facts_.starts;
  ++starts.workers;
  const auto unpickling = static_cast<double>(field<Kind::started, "unpickling">(record));
  const auto importing = static_cast<double>(field<Kind::started, "torch">(record));
  starts.executed += unpickling > 0 || importing > 0 ? 1 : 0;
  starts.process += static_cast<double>(field<Kind::started, "process">(record));
  starts.importing += importing;
  starts.unpickling += unpickling;
  starts.prepare += static_cast<double>(field<Kind::started, "prepare">(record));
}

void FactsCollector::add_loop(const IterationKey& key, const Iteration& loop) {
  const std::uint64_t before = Interval{begin_of(key, loop), loop.first}.ticks();
  facts_.sampler.loops += static_cast<double>(trace_->clock.duration_ns(before + loop.ticks()));
}

void FactsCollector::on_native(const Stream& stream, const Record& record) {
  const auto hook = stream.process->hooks.find(field<Kind::native, "hook">(record));
  if (hook == stream.process->hooks.end()) return;
  const bool collects = is_collection_hook(hook->second.name);
  if (!collects && !is_lock_hook(hook->second.name)) return;
  const std::uint64_t calls = field<Kind::native, "calls">(record);
  const auto took = static_cast<double>(trace_->clock.duration_ns(field<Kind::native, "ticks">(record)));
  if (collects) {
    facts_.garbage.calls += calls;
    facts_.garbage.called += took;
    return;
  }
  LockWaits& lock = locks_[hook->second.name];
  lock.waits += calls;
  lock.total += took;
  const OpenSpan& innermost = stream.stack.back();
  const bool in_op = innermost.kind == Kind::op && innermost.op->role != OpRole::runner;
  lock.ops[in_op ? innermost.op->name : std::string()] += took;
}

Facts FactsCollector::take() {
  for (const auto& [name, lock] : locks_) {
    const auto longest = std::max_element(lock.ops.begin(), lock.ops.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
    facts_.locks.push_back({name, lock.waits, lock.total, longest->first});
  }
  std::sort(facts_.locks.begin(), facts_.locks.end(),
            [](const LockFinding& a, const LockFinding& b) { return a.total > b.total; });
  facts_.dataset_calls = dataset_calls_.take();
  facts_.reopened = use_.take_reopened();
  return std::move(facts_);
}

}  // namespace lotus::analyzer
