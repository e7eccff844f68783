#include "answers/counters/functions.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lotus::analyzer {

void SampledCounts::add(const SampledCounts& other) {
  cpu.add(other.cpu);
  for (const auto& [name, counts] : other.counters) counters[name].add(counts);
}

std::optional<SampledTotal> CountedFunction::total(const std::string& counter, double samples) const {
  const auto found = own.counters.find(counter);
  if (found == own.counters.end()) return std::nullopt;
  const MeasuredCalls& counts = found->second;
  SampledTotal total{counts.sum, std::nullopt, counts.calls};
  if (counts.calls < 2) return total;
  // Each of the samples adds its count, or 0 if it came in another function: n times the variance of that.
  const double variance = std::max(0.0, counts.squares - counts.sum * counts.sum / std::max(1.0, samples));
  const double half = errors_for(1 - kMissed, static_cast<double>(counts.calls - 1)) * std::sqrt(variance);
  total.interval = {std::max(0.0, total.value - half), total.value + half};
  return total;
}

void FunctionCounter::begin(const Trace& trace) {
  trace_ = &trace;
  profile_.emplace(trace);
  stacks_.clear();
  sample_ = nullptr;
}

void FunctionCounter::on_stack_sample(const Process& process, const Record& record, std::uint64_t) {
  sample_ = nullptr;
  if (const std::uint64_t id = field<Kind::stack_sample, "op">(record); id != 0) {
    const Op* op = process.ops.find(id);
    sample_ = &stacks_[{op != nullptr ? std::string_view(op->name) : std::string_view(),
                        field<Kind::stack_sample, "stack">(record)}];
  }
  sample_ns_ = profile_->ns_of(process, record);
}

void FunctionCounter::on_sample_count(const Process& process, const Record& record, std::uint64_t) {
  if (sample_ == nullptr) return;
  const auto name = process.counters.find(field<Kind::sample_count, "counter">(record));
  const auto enabled = static_cast<double>(field<Kind::sample_count, "enabled">(record));
  const auto running = static_cast<double>(field<Kind::sample_count, "running">(record));
  if (name == process.counters.end() || (enabled > 0 && running <= 0)) return;
  if (sample_ns_ > 0) sample_->cpu.add(std::exchange(sample_ns_, 0));
  sample_->counters[name->second.name].add(static_cast<double>(field<Kind::sample_count, "value">(record)) *
                                           (enabled > 0 ? enabled / running : 1));
}

void FunctionCounter::end() {
  StackNames names(trace_->stacks, frames_);
  for (const auto& [key, counts] : stacks_) {
    const auto& [op, stack] = key;
    if (counts.counters.empty()) continue;
    found_.all.add(counts);
    const auto path = names.frames_of(stack);
    const Owner owner = owner_of(path, frames_);
    if (owner.frame == nullptr) continue;
    Own& own = functions_[*owner.frame];
    own.counts.add(counts);
    if (!op.empty())
      for (const auto& [counter, measured] : counts.counters)
        own.by_op[std::string(op)][counter] += measured.sum;
    if (const FrameId* caller = named_caller(path, frames_)) own.callers[*caller] += counts.cpu.cpu_ns;
  }
  profile_.reset();
}

FunctionCounts FunctionCounter::take() {
  for (const auto& [frame, own] : functions_)
    found_.functions.push_back({frames_[frame], most_of(own.callers, frames_), own.counts, own.by_op});
  std::stable_sort(found_.functions.begin(), found_.functions.end(),
                   [](const auto& a, const auto& b) { return a.own.cpu.cpu_ns > b.own.cpu.cpu_ns; });
  functions_.clear();
  return std::exchange(found_, {});
}

}  // namespace lotus::analyzer
