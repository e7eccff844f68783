#include "answers/stacks/profile.hpp"

#include <algorithm>
#include <lotus/snapshot.hpp>

#include "answers/stacks/frame_table.hpp"
#include "reading/model/operator_hooks.hpp"

namespace lotus::analyzer {
namespace {

constexpr double kDefaultPeriodNs = 1e9 / 199;
constexpr double kMostNs = 1e12;      // of a sample, more is damage
constexpr double kMostWaitNs = 1e14;  // of a wait: a day

OpKey key_of(const Op* op) {
  if (op == nullptr) return {};
  return {op->role, op->name, op->qualified};
}

}  // namespace

Profile::Profile(const Trace& trace, ProfileFilter filter)
    : trace_(trace), filter_(std::move(filter)), usual_period_(kDefaultPeriodNs) {
  for (const auto& [number, process] : trace.catalog.processes())
    if (process->sampling && process->sampling->period_ns > 0)
      usual_period_ = static_cast<double>(process->sampling->period_ns);
}

double Profile::period_of(const Process& process) const {
  const bool known = process.sampling && process.sampling->period_ns > 0;
  return known ? static_cast<double>(process.sampling->period_ns) : usual_period_;
}

bool Profile::wanted(const Process& process, const OpKey& key) const {
  if (filter_.op && key.shown() != *filter_.op) return false;
  if (!filter_.worker) return true;
  return process.worker_of && process.worker_of->worker == *filter_.worker;
}

OpProfile* Profile::profile_of(const Process& process, const Op* op) {
  const auto [slot, fresh] = slots_.try_emplace({&process, op}, nullptr);
  if (!fresh) return slot->second;
  const OpKey key = key_of(op);
  op_names_.insert(std::string(key.shown()));
  if (wanted(process, key)) slot->second = &ops_[key];
  return slot->second;
}

double Profile::ns_of(const Process& process, const Record& record) const {
  constexpr std::uint64_t kMostPeriods = 1 << 20;
  const std::uint64_t weight = field<Kind::stack_sample, "weight">(record);
  const std::uint64_t periods = std::clamp<std::uint64_t>(weight, 1, kMostPeriods);
  return std::min(static_cast<double>(periods) * period_of(process), kMostNs);
}

void Profile::on_stack_sample(const Process& process, const Record& record, std::uint64_t ticks) {
  ++samples_;
  const std::uint64_t op = field<Kind::stack_sample, "op">(record);
  const std::uint64_t tid = field<Kind::stack_sample, "tid">(record);
  const std::uint64_t flags = field<Kind::stack_sample, "flags">(record);
  without_end_ += op != 0 && !process.has_records_until(tid, ticks) ? 1 : 0;
  OpProfile* profile = profile_of(process, op == 0 ? nullptr : process.ops.find(op));
  if (profile == nullptr) return;
  const double ns = ns_of(process, record);
  profile->all.add(ns);
  const bool cut = (flags & (kCutStack | kCutUnwind)) != 0;
  StackTally& stack = profile->stacks[field<Kind::stack_sample, "stack">(record)];
  (cut ? stack.cut : stack.whole).add(ns);
  if ((flags & kMakesBatch) != 0) stack.making.add(ns);
  if ((flags & kTellsCollecting) != 0) profile->telling.add(ns);
  if ((flags & kCollecting) != 0) profile->collecting.add(ns);
  profile->on_behalf += (flags & kOnBehalf) != 0 ? 1 : 0;
  profile->cut += cut ? 1 : 0;
}

void Profile::on_off_cpu(const Process& process, const Record& record, std::uint64_t /*ticks*/) {
  const std::uint64_t op = field<Kind::off_cpu, "op">(record);
  OpProfile* profile = profile_of(process, op == 0 ? nullptr : process.ops.find(op));
  const auto hook = process.hooks.find(field<Kind::off_cpu, "hook">(record));
  if (profile == nullptr || hook == process.hooks.end()) return;
  const auto ns = static_cast<double>(trace_.clock.duration_ns(field<Kind::off_cpu, "ticks">(record)));
  if (ns > kMostWaitNs) return;  // damage
  profile->waits[{field<Kind::off_cpu, "stack">(record), hook->second.name}].add(ns);
}

void Profile::on_span(const Span& span) {
  if (!span.is_op() || span.ended == Ended::lost) return;
  OpProfile* profile = profile_of(*span.stream.process, span.data.op);
  if (profile == nullptr) return;
  ++profile->calls;
  const auto ns = static_cast<double>(trace_.clock.between(span.data.start, span.end));
  profile->wall_ns += ns;
  if (!span.counts_operators()) return;
  ++profile->calls_with_operators;
  profile->wall_with_operators_ns += ns;
}

EntryPoints OpProfile::all_entry_points() const {
  EntryPoints points = entry_points;
  const bool partly = calls_with_operators > 0 && calls_with_operators < calls;
  const double of_calls = static_cast<double>(calls) / static_cast<double>(calls_with_operators);
  const double of_time = wall_with_operators_ns > 0 ? wall_ns / wall_with_operators_ns : 1;
  for (const auto& [name, point] : operators)
    points[name].add(partly ? point.scaled(of_calls, of_time) : point);
  return points;
}

void Profile::on_native(const Stream& stream, const Record& record) {
  const OpenSpan& inside = stream.stack.back();
  OpProfile* profile = profile_of(*stream.process, inside.kind == Kind::op ? inside.op : nullptr);
  const auto hook = stream.process->hooks.find(field<Kind::native, "hook">(record));
  if (profile == nullptr || hook == stream.process->hooks.end()) return;
  EntryPoints& points = is_operator_hook(hook->second.library) ? profile->operators : profile->entry_points;
  EntryPoint& point = points[{hook->second.name, base_name(hook->second.library)}];
  point.calls += field<Kind::native, "calls">(record);
  point.ns += static_cast<double>(trace_.clock.duration_ns(field<Kind::native, "ticks">(record)));
  point.bytes += static_cast<double>(field<Kind::native, "bytes">(record));
}

SamplingFacts Profile::facts(const Reading& reading) const {
  SamplingFacts facts;
  for (const auto& [number, process] : trace_.catalog.processes()) {
    if (process->timers_refused) facts.refused = process->timers_refused;
    if (!process->sampling) continue;
    facts.known = true;
    facts.hz = std::max(facts.hz, process->sampling->hz);
  }
  facts.samples = samples_;
  facts.lost = trace_.lost_snapshots() + reading.damaged_samples;
  facts.without_end = without_end_;
  facts.cut = trace_.truncated();
  return facts;
}

std::set<std::uint64_t> Profile::worker_ids() const {
  std::set<std::uint64_t> ids;
  for (const auto& [number, process] : trace_.catalog.processes())
    if (process->worker_of) ids.insert(process->worker_of->worker);
  return ids;
}

}  // namespace lotus::analyzer
