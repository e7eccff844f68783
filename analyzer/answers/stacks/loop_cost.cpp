#include "answers/stacks/loop_cost.hpp"

#include <cmath>
#include <limits>

namespace lotus::analyzer {

void RowMean::add(double ns) {
  if (in_last_ == 0 && blocks_.size() == kMostBlocks) {
    for (std::size_t i = 0; i < kMostBlocks / 2; ++i) blocks_[i] = blocks_[2 * i] + blocks_[2 * i + 1];
    blocks_.resize(kMostBlocks / 2);
    length_ *= 2;
  }
  if (in_last_ == 0) blocks_.push_back(0);
  blocks_.back() += ns;
  in_last_ = (in_last_ + 1) % length_;
  ++count_;
  sum_ += ns;
}

Estimate RowMean::estimate() const {
  if (count_ == 0) return {};
  const double mean = sum_ / static_cast<double>(count_);
  const std::size_t whole = blocks_.size() - (in_last_ > 0 ? 1 : 0);
  if (whole < 2) return {mean, std::numeric_limits<double>::infinity()};
  const auto length = static_cast<double>(length_);
  double middle = 0, squares = 0;
  for (std::size_t i = 0; i < whole; ++i) middle += blocks_[i] / length / static_cast<double>(whole);
  for (std::size_t i = 0; i < whole; ++i) squares += std::pow(blocks_[i] / length - middle, 2);
  return {mean, std::sqrt(squares / static_cast<double>(whole - 1) / static_cast<double>(whole)),
          static_cast<double>(whole - 1)};
}

std::optional<double> LoopCost::samples_per_s() const {
  if (samples == 0 || fetch.count() == 0 || wait.count() == 0 || time <= 0) return std::nullopt;
  return mean_samples() * static_cast<double>(wait.count()) * 1e9 / time;
}

std::optional<double> LoopCost::batches_per_s() const {
  return wait.count() > 0 && time > 0 ? std::optional(static_cast<double>(wait.count()) * 1e9 / time)
                                      : std::nullopt;
}

void LoopCostReader::on_span(const Span& span) {
  const auto ns = [&](std::uint64_t start, std::uint64_t end) {
    return static_cast<double>(clock_.between(start, end));
  };
  if (span.kind() == Kind::fetch && span.fetched() == Fetched::made) {
    cost_.fetch.add(ns(span.data.start, span.end));
    cost_.samples += span.data.samples;
    unsized_ = unsized_ || span.data.unsized;
    if (span.data.core_wait_ns != kUnknown)
      cost_.core_wait.add(static_cast<double>(span.data.core_wait_ns), ns(span.data.start, span.end));
  }
  if (span.kind() != Kind::next) return;
  Loop& loop = loops_[iteration_of(span)];
  Call call;
  if (const auto step = loop.add(span)) {
    call.step = ns(step->start, step->end);
    call.batch = loop.next + *call.step;
  }
  loop.next = ns(span.data.start, span.end);
  loop.all_next += loop.next;
  if (span.ended == Ended::returned) call.wait = loop.next;
  if (loop.trained_elsewhere() > 0) return loop.first_calls.clear();
  if (loop.counted) return add(call);
  loop.first_calls.push_back(call);
  if (loop.first_calls.size() == kMostKept) count(loop);
}

void LoopCostReader::add(const Call& call) {
  if (call.step) cost_.step.add(*call.step);
  if (call.batch) cost_.batch.add(*call.batch);
  if (call.wait) cost_.wait.add(*call.wait);
}

void LoopCostReader::count(Loop& loop) {
  for (const Call& call : loop.first_calls) add(call);
  loop.first_calls.clear();
  loop.counted = true;
}

LoopCost LoopCostReader::take() {
  for (auto& [key, iteration] : loops_) {
    if (iteration.trained_elsewhere() > 0) {
      cost_.next_elsewhere += iteration.all_next;
      continue;
    }
    count(iteration);
    cost_.next += iteration.all_next;
    const auto loop = static_cast<double>(clock_.duration_ns(iteration.ticks()));
    cost_.loop += loop;
    cost_.time += static_cast<double>(clock_.between(begin_of(key, iteration), iteration.first)) + loop;
  }
  loops_.clear();
  if (unsized_) cost_.samples = 0;
  return std::move(cost_);
}

}  // namespace lotus::analyzer
