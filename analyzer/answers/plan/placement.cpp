#include "answers/plan/placement.hpp"

#include <algorithm>

namespace lotus::analyzer::memory_plan {
namespace {

// Follows an item through its segments. `move`: (segment before which it moves, to fast memory?, copied?);
// `stay`: (segment, in fast memory?, in slow memory?), where both may hold.
template <class OnMove, class OnStay>
void follow(const Item& item, const std::vector<bool>& places, OnMove&& on_move, OnStay&& on_stay) {
  bool copy = false;  // slow memory has a valid copy of what is in fast memory
  for (std::size_t j = 0; j < item.segments.size(); ++j) {
    const Segment& segment = item.segments[j];
    if (j > 0 && places[j] != places[j - 1]) {
      on_move(segment, bool(places[j]), places[j] || !copy);
      copy = places[j];
    }
    if (segment.written) copy = false;
    on_stay(segment, bool(places[j]), !places[j] || copy);
  }
}

void add(std::vector<std::int64_t>& changes, const Segment& segment, std::int64_t pages) {
  changes[segment.first] += pages;
  changes[segment.last + 1] -= pages;
}

void sum_up(std::vector<std::int64_t>& changes) {
  for (std::size_t k = 1; k < changes.size(); ++k) changes[k] += changes[k - 1];
  changes.pop_back();
}

}  // namespace

Placement all_in(const Problem& problem, bool fast) {
  Placement placement;
  placement.reserve(problem.items.size());
  for (const Item& item : problem.items) placement.emplace_back(item.segments.size(), fast);
  return placement;
}

double seconds_of(const Item& item, const std::vector<bool>& places) {
  double seconds = 0;
  follow(
      item, places,
      [&](const Segment&, bool to_fast, bool copied) {
        if (copied) seconds += to_fast ? item.in_seconds : item.out_seconds;
      },
      [&](const Segment& segment, bool fast, bool) {
        if (!fast) seconds += segment.slow_seconds;
      });
  return seconds;
}

double seconds_of(const Problem& problem, const Placement& placement) {
  double seconds = problem.base_seconds;
  for (std::size_t i = 0; i < problem.items.size(); ++i)
    seconds += seconds_of(problem.items[i], placement[i]);
  return seconds;
}

Outcome outcome_of(const Problem& problem, const Placement& placement) {
  Outcome outcome;
  outcome.seconds = seconds_of(problem, placement);
  outcome.fast.resize(problem.moments + 1);
  outcome.slow.resize(problem.moments + 1);
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const Item& item = problem.items[i];
    follow(
        item, placement[i],
        [&](const Segment& segment, bool to_fast, bool copied) {
          const double seconds = !copied ? 0 : to_fast ? item.in_seconds : item.out_seconds;
          outcome.moves.push_back({item.storage, segment.first, to_fast, copied, seconds});
          outcome.move_seconds += seconds;
        },
        [&](const Segment& segment, bool fast, bool slow) {
          if (fast) add(outcome.fast, segment, item.pages);
          if (slow) add(outcome.slow, segment, item.pages);
        });
  }
  sum_up(outcome.fast);
  sum_up(outcome.slow);
  for (std::size_t k = 0; k < problem.moments; ++k) outcome.fast[k] += problem.taken[k];
  std::stable_sort(outcome.moves.begin(), outcome.moves.end(), [](const Move& a, const Move& b) {
    return a.before != b.before ? a.before < b.before : a.to_fast < b.to_fast;  // room is made first
  });
  return outcome;
}

std::vector<std::int64_t> taken_by(const Problem& problem, const Placement& placement) {
  return outcome_of(problem, placement).fast;
}

bool allowed(const Problem& problem, const Placement& placement, std::int64_t limit_pages) {
  if (placement.size() != problem.items.size()) return false;
  for (std::size_t i = 0; i < placement.size(); ++i) {
    const Item& item = problem.items[i];
    if (placement[i].size() != item.segments.size()) return false;
    if (item.cyclic && placement[i].front() != placement[i].back()) return false;
  }
  const auto taken = taken_by(problem, placement);
  return std::all_of(taken.begin(), taken.end(), [&](std::int64_t pages) { return pages <= limit_pages; });
}

Placement expanded(const Problem& problem, const Placement& placement) {
  Placement whole;
  whole.reserve(problem.items.size());
  for (std::size_t i = 0; i < problem.items.size(); ++i)
    whole.emplace_back(problem.items[i].segments.size(), placement[i].front());
  return whole;
}

}  // namespace lotus::analyzer::memory_plan
