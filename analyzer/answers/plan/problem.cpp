#include "answers/plan/problem.hpp"

#include <algorithm>

namespace lotus::analyzer::memory_plan {
namespace {

using memory::Operand;
using memory::Step;
using memory::Storage;

// The moment after the last one at which the storage is there. What survives is there at the step's end, too.
std::size_t end_of(const Step& step, const Storage& storage) {
  return storage.released >= step.operators.size() && storage.survives ? step.operators.size() + 1
                                                                       : storage.released;
}

void add_gap(std::vector<Segment>& segments, std::size_t first, std::size_t end) {
  if (first < end) segments.push_back({.first = first, .last = end - 1});
}

std::vector<Segment> segments_of(const Step& step, std::size_t index, const Costs& costs) {
  const Storage& storage = step.storages[index];
  std::vector<Segment> segments;
  std::size_t next = storage.born;
  for (const std::size_t use : storage.uses) {
    add_gap(segments, next, use);
    const auto& op = step.operators[use];
    const Operand& operand = operand_of(op, index);
    segments.push_back({.first = use,
                        .last = use,
                        .use = true,
                        .written = operand.written,
                        .slow_seconds = costs.operand(step, op, operand)});
    next = use + 1;
  }
  const std::size_t end = end_of(step, storage);
  if (persistent(storage)) {
    add_gap(segments, next, end - 1);
    segments.push_back({.first = end - 1, .last = end - 1, .use = true});
  } else {
    add_gap(segments, next, end);
  }
  return segments;
}

Item item_of(const Step& step, std::size_t index, const Costs& costs) {
  const Storage& storage = step.storages[index];
  const std::uint64_t bytes = whole_pages(storage.bytes);
  return {.storage = index,
          .pages = static_cast<std::int64_t>(pages_of(storage.bytes)),
          .in_seconds = costs.move_to_fast(bytes),
          .out_seconds = costs.move_to_slow(bytes),
          .cyclic = persistent(storage),
          .segments = segments_of(step, index, costs)};
}

std::vector<std::int64_t> sums(const std::vector<std::int64_t>& changes, std::size_t moments) {
  std::vector<std::int64_t> found(moments);
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < moments; ++k) found[k] = sum += changes[k];
  return found;
}

}  // namespace

double Problem::all_slow_seconds() const {
  double seconds = base_seconds;
  for (const Item& item : items)
    for (const Segment& segment : item.segments) seconds += segment.slow_seconds;
  return seconds;
}

std::vector<std::int64_t> Problem::needed() const {
  std::vector<std::int64_t> changes(moments + 1);
  for (const Item& item : items) {
    changes[item.segments.front().first] += item.pages;
    changes[item.segments.back().last + 1] -= item.pages;
  }
  auto found = sums(changes, moments);
  for (std::size_t k = 0; k < moments; ++k) found[k] += taken[k];
  return found;
}

Problem problem_of(const Step& step, const Rules& rules) {
  const Costs costs(rules.tier, rules.kernels);
  Problem problem;
  problem.moments = step.operators.size() + 1;
  problem.taken.resize(problem.moments);
  for (std::size_t k = 0; k < step.operators.size(); ++k) {
    problem.base_seconds += step.operators[k].seconds;
    problem.taken[k] = static_cast<std::int64_t>(pages_of(step.operators[k].workspace));
  }
  for (std::size_t i = 0; i < step.storages.size(); ++i) {
    const Storage& storage = step.storages[i];
    if (storage.bytes == 0 || storage.born >= end_of(step, storage)) continue;
    if (rules.persistent_fast && persistent(storage))
      for (auto& pages : problem.taken) pages += static_cast<std::int64_t>(pages_of(storage.bytes));
    else
      problem.items.push_back(item_of(step, i, costs));
  }
  return problem;
}

Problem collapsed(const Problem& problem) {
  Problem whole = problem;
  for (Item& item : whole.items) {
    Segment life{.first = item.segments.front().first, .last = item.segments.back().last, .use = true};
    for (const Segment& segment : item.segments) life.slow_seconds += segment.slow_seconds;
    item.segments = {life};
  }
  return whole;
}

std::uint64_t peak_bytes(const Step& step) {
  const auto needed = problem_of(step, {}).needed();
  return static_cast<std::uint64_t>(*std::max_element(needed.begin(), needed.end())) * kPage;
}

}  // namespace lotus::analyzer::memory_plan
