#include "answers/plan/offload.hpp"

#include <algorithm>

namespace lotus::analyzer::memory_plan {
namespace {

using memory::Operand;
using memory::Operator;
using memory::Phase;
using memory::Step;
using memory::Storage;

struct Gap {
  std::size_t last_use = 0, next_use = 0;  // operators
};

// Between the last use before the backward pass and the first one in it; nullopt: there is none.
std::optional<Gap> gap_of(const Step& step, std::size_t index) {
  const auto& uses = step.storages[index].uses;
  const auto next = std::find_if(uses.begin(), uses.end(), [&](std::size_t use) {
    return step.operators[use].phase == Phase::backward;
  });
  if (next == uses.end() || next == uses.begin() || *next == *(next - 1) + 1) return std::nullopt;
  const bool changed = std::any_of(
      next, uses.end(), [&](std::size_t use) { return operand_of(step.operators[use], index).written; });
  return changed ? std::nullopt : std::optional(Gap{*(next - 1), *next});
}

bool may_leave(const Step& step, const Storage& storage) {
  return storage.bytes >= kLeastOffloaded && !storage.older && !storage.survives &&
         storage.released > storage.born && storage.released <= step.operators.size() &&
         step.operators[storage.born].phase == Phase::forward &&
         step.operators[storage.released - 1].phase == Phase::backward;
}

// Whether the operator makes another storage of this size: then autograd's hooks cannot tell which one it is.
bool makes_another(const Step& step, std::size_t op, std::size_t index) {
  const std::uint64_t bytes = step.storages[index].bytes;
  for (std::size_t i = 0; i < step.storages.size(); ++i)
    if (const Storage& other = step.storages[i];
        i != index && !other.older && other.born == op && other.bytes == bytes)
      return true;
  return false;
}

// Uses from the last change on: what is saved before it, is another value.
std::vector<SavedUse> saved_uses(const Step& step, std::size_t index, std::size_t last) {
  std::vector<SavedUse> saved;
  for (const std::size_t use : step.storages[index].uses) {
    if (use > last) break;
    const Operator& op = step.operators[use];
    const Operand& operand = operand_of(op, index);
    if (operand.written) saved.clear();
    std::size_t before = 0;
    for (const Operand& other : op.operands) {
      if (other.storage == index) break;
      if (other.read) ++before;
    }
    if (operand.read)
      saved.push_back({use, before});
    else if (!makes_another(step, use, index))
      saved.push_back({use, std::nullopt});
  }
  return saved;
}

}  // namespace

OffloadProblem offload_problem(const Step& step, const Problem& whole) {
  OffloadProblem offload;
  offload.problem = {
      .base_seconds = whole.base_seconds, .moments = whole.moments, .taken = whole.needed(), .items = {}};
  for (std::size_t i = 0; i < whole.items.size(); ++i) {
    const Item& item = whole.items[i];
    if (!may_leave(step, step.storages[item.storage])) continue;
    const auto gap = gap_of(step, item.storage);
    if (!gap) continue;
    auto uses = saved_uses(step, item.storage, gap->last_use);
    if (uses.empty()) continue;
    const auto segment = std::find_if(item.segments.begin(), item.segments.end(), [&](const Segment& each) {
      return !each.use && each.first == gap->last_use + 1;
    });
    const Segment away{.first = segment->first,
                       .last = segment->last,
                       .use = true,
                       .slow_seconds = item.in_seconds + item.out_seconds};
    for (std::size_t k = away.first; k <= away.last; ++k) offload.problem.taken[k] -= item.pages;
    offload.problem.items.push_back({.storage = item.storage,
                                     .pages = item.pages,
                                     .in_seconds = 0,
                                     .out_seconds = 0,
                                     .cyclic = false,
                                     .segments = {away}});
    offload.storages.push_back(
        {item.storage, i, static_cast<std::size_t>(segment - item.segments.begin()), std::move(uses)});
  }
  return offload;
}

Placement whole_placement(const Problem& whole, const OffloadProblem& offload, const Placement& placement) {
  Placement all = all_in(whole, true);
  for (std::size_t i = 0; i < placement.size(); ++i)
    all[offload.storages[i].item][offload.storages[i].segment] = placement[i].front();
  return all;
}

}  // namespace lotus::analyzer::memory_plan
