#include "answers/stacks/costs.hpp"

#include <algorithm>
#include <cmath>

namespace lotus::analyzer {

// Samples are independent of each other: their number is Poisson distributed, so its variance is its mean.
Estimate OpCost::cpu_per_call(const Tally& tally) const {
  const auto calls = static_cast<double>(wall.calls());
  return calls <= 0 ? Estimate{} : Estimate{tally.cpu_ns / calls, std::sqrt(tally.squares) / calls};
}

void CostReader::on_span(const Span& span) {
  profile_.on_span(span);
  loop_.on_span(span);
  if (span.kind() == Kind::fetch) return close(span.stream);
  if (!span.is_op() || span.ended == Ended::lost) return;
  Block& block = open_[&span.stream][span.data.op->name];
  block.calls += 1;
  block.ns += static_cast<double>(trace_.clock.between(span.data.start, span.end));
  if (const auto cpu = span.cpu_ns()) {
    block.measured += 1;
    block.cpu_ns += static_cast<double>(*cpu);
  }
}

void CostReader::add(const std::string& name, const Block& block) {
  OpCost& cost = costs_.ops[name];
  cost.wall.add(block.calls, block.ns);
  if (block.measured > 0) cost.clock.add(block.measured, block.cpu_ns);
}

void CostReader::close(const Stream& stream) {
  const auto open = open_.find(&stream);
  if (open == open_.end()) return;
  for (const auto& [name, block] : open->second) add(name, block);
  open_.erase(open);
}

Costs CostReader::take() {
  for (const auto& [stream, blocks] : open_)
    for (const auto& [name, block] : blocks) add(name, block);
  open_.clear();
  StackNames names(trace_.stacks, frames_);
  for (const auto& [key, profile] : profile_.ops()) {
    if (!key.outside()) costs_.ops[key.name].add(profile, names, frames_);
  }
  costs_.loop = loop_.take();
  costs_.loop.unit = trace_.catalog.sample_unit();
  return std::move(costs_);
}

}  // namespace lotus::analyzer
