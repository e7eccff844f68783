#include "answers/counters/collector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <lotus/counters.hpp>
#include <numeric>

namespace lotus::analyzer {

std::optional<SampledTotal> CountedCalls::total(const std::string& counter) const {
  const auto found = counters.find(counter);
  return found == counters.end() ? std::nullopt
                                 : total_of(by_duration, found->second.measured, found->second.first);
}

std::optional<Estimate> CountedCalls::per_call(const std::string& counter) const {
  const auto found = counters.find(counter);
  if (found == counters.end()) return std::nullopt;
  const auto all = total_of(by_duration, found->second.measured);
  if (!all) return std::nullopt;
  const auto calls_of_total =
      static_cast<double>(std::accumulate(by_duration.begin(), by_duration.end(), std::uint64_t{0}));
  Estimate estimate = found->second.blocks.estimate();
  const double of_measured = estimate.mean;
  estimate.mean = all->value / calls_of_total;
  // Measured calls are the longer ones: how much batches differ is taken to be the same share of all calls.
  if (of_measured > 0) estimate.error *= estimate.mean / of_measured;
  const double seen = std::max(1.0, of_measured * static_cast<double>(all->measured));
  const double seldom = std::sqrt(seen) / static_cast<double>(all->measured);
  const double sampled =
      all->interval ? (all->interval->high - all->interval->low) / 2 /
                          errors_for(1 - kMissed, std::numeric_limits<double>::infinity()) / calls_of_total
                    : std::numeric_limits<double>::infinity();
  estimate.error = std::max({estimate.error, seldom, sampled});
  return estimate;
}

void CountedCalls::add(const CountedCalls& other) {
  calls += other.calls;
  wall_ns += other.wall_ns;
  for (std::size_t i = 0; i < by_duration.size(); ++i) by_duration[i] += other.by_duration[i];
  for (const auto& [name, totals] : other.counters) counters[name].add(totals);
}

void CounterTotals::add(const CounterTotals& other) {
  for (std::size_t i = 0; i < measured.size(); ++i) measured[i].add(other.measured[i]);
  first.add(other.first);
  blocks.add(other.blocks);
  enabled_ns += other.enabled_ns;
  on_ns += other.on_ns;
}

namespace {

void add_processor(const Process& process, CounterFindings& findings) {
  if (!process.processor) return;
  const auto& [vendor, family, model] = *process.processor;
  const TopdownModel* topdown = topdown_of({vendor, family, model});
  findings.topdown = findings.processors.empty() || findings.topdown == topdown ? topdown : nullptr;
  findings.processors.insert(fmt::format("{} family {} model {:#x}", vendor, family, model));
}

}  // namespace

CounterCollector::CounterCollector(const Trace& trace, CounterFindings& findings)
    : trace_(trace), findings_(findings) {
  findings_.files.push_back(trace.source.path());
  for (const auto& [number, process] : trace.catalog.processes()) {
    add_processor(*process, findings_);
    for (const auto& [id, counter] : process->counters) {
      CounterState& state = findings_.counters[counter.name];
      state.user_only = state.user_only || counter.user_only;
      if (counter.error != 0) state.errors.insert(counter.error);
    }
  }
}

void CounterCollector::on_point(const Stream& stream, const Record& record, std::uint64_t) {
  if (record.kind != Kind::count || stream.stack.empty()) return;
  auto& counts = counts_[&stream];
  if (counts.size() == kMaxCounters) return;  // more is damage
  counts.push_back({field<Kind::count, "counter">(record), field<Kind::count, "value">(record),
                    field<Kind::count, "enabled">(record), field<Kind::count, "running">(record)});
}

void CounterCollector::on_span(const Span& span) {
  std::vector<Count> counts;
  if (const auto found = counts_.find(&span.stream); found != counts_.end()) counts.swap(found->second);
  if (span.ended == Ended::lost) return;  // when it ended is not known
  const bool fetched = span.kind() == Kind::fetch && span.fetched() != Fetched::empty;
  if (!fetched && !span.is_op()) return;
  // It imports, compiles and fills caches, and is always measured.
  const bool first = called_.insert({span.stream.process, span.data.op}).second;
  if (fetched) {
    add(span, findings_.fetches, counts, first);
    return close_blocks(span.stream);
  }
  const Op& op = *span.data.op;
  add(span, findings_.ops[{op.role, op.name, op.qualified}], counts, first);
}

// Operations of a batch lie before the end of its fetch.
void CounterCollector::close_blocks(const Stream& stream) {
  const auto open = open_.find(&stream);
  if (open == open_.end()) return;
  for (const auto& [totals, block] : open->second) totals->blocks.add(block.calls, block.sum);
  open_.erase(open);
}

void CounterCollector::end() {
  while (!open_.empty()) close_blocks(*open_.begin()->first);
}

void CounterCollector::add(const Span& span, CountedCalls& to, const std::vector<Count>& counts, bool first) {
  const std::int64_t took = std::max<std::int64_t>(0, trace_.clock.duration_ns(span.ticks()));
  const std::size_t place = duration_class(static_cast<std::uint64_t>(took));
  const auto wall = static_cast<double>(took);
  ++to.calls;
  to.wall_ns += wall;
  const auto is_on = [](const Count& count) { return count.enabled_ns == 0 || count.running_ns > 0; };
  const bool apart = first && !counts.empty() && std::all_of(counts.begin(), counts.end(), is_on);
  to.by_duration[place] += apart ? 0 : 1;
  const auto& names = span.stream.process->counters;
  for (const Count& count : counts) {
    const auto found = names.find(count.counter);
    if (found == names.end()) continue;
    CounterTotals& totals = to.counters[found->second.name];
    const bool always = count.enabled_ns == count.running_ns;
    const auto enabled = static_cast<double>(count.enabled_ns);
    const auto running = static_cast<double>(count.running_ns);
    totals.enabled_ns += always ? wall : enabled;
    totals.on_ns += always ? wall : running;
    if (!is_on(count)) continue;  // it was another group's turn
    MeasuredCalls& calls = apart ? totals.first : totals.measured[place];
    const double value = static_cast<double>(count.value) * (always ? 1 : enabled / running);
    calls.add(value);
    if (apart) continue;
    Block& block = open_[&span.stream][&totals];
    block.calls += 1;
    block.sum += value;
  }
}

}  // namespace lotus::analyzer
