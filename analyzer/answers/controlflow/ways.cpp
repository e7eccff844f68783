// Ways from one instruction of a code to another.
#include <algorithm>
#include <queue>

#include "answers/controlflow/code_flow.hpp"

namespace lotus::analyzer::controlflow {
namespace {

constexpr std::uint64_t kFar = ~std::uint64_t{0};
constexpr unsigned kSeenShift = 48, kBackShift = 24;  // of what a way costs; below: its instructions
constexpr std::uint64_t kSeen = std::uint64_t{1} << kSeenShift, kBack = std::uint64_t{1} << kBackShift;

// Numbers that are kept of a code so as not to be found again: only crafted ones have as many.
constexpr std::size_t kMostKept = 4'000'000;

// Without the number of instructions.
std::uint64_t weight(std::uint64_t cost) { return cost >> kBackShift; }

}  // namespace

std::uint64_t CodeFlow::cost(std::size_t from, std::size_t to, std::size_t goal) const {
  std::uint64_t cost = 1;
  if (to != goal && seen_.contains(to)) cost += kSeen;
  if (back_.contains({from, to})) cost += kBack;
  // Exceptions are the last thing to suppose.
  if (from < code_.size() && code_[from].flow == Flow::setup && to == code_[from].target) cost += 8 * kSeen;
  return cost;
}

// Of each instruction to `to`.
const std::vector<std::uint64_t>& CodeFlow::distances(std::size_t to) const {
  if (distances_.size() * next_.size() > kMostKept) distances_.clear();
  std::vector<std::uint64_t>& far = distances_[to];
  if (!far.empty()) return far;
  far.assign(next_.size(), kFar);
  using Entry = std::pair<std::uint64_t, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  far[to] = 0;
  open.push({0, to});
  while (!open.empty()) {
    const auto [distance, at] = open.top();
    open.pop();
    if (distance > far[at]) continue;
    for (const std::size_t from : before_[at]) {
      const std::uint64_t through = distance + cost(from, at, to);
      if (through >= far[from]) continue;
      far[from] = through;
      open.push({through, from});
    }
  }
  return far;
}

Way CodeFlow::made_way(std::size_t from, std::size_t to) const {
  const std::vector<std::uint64_t>& far = distances(to);
  Way way;
  const auto through = [&](std::size_t at, std::size_t next) {
    return far[next] == kFar ? kFar : far[next] + cost(at, next, to);
  };
  std::size_t at = from;
  if (from == kEntry) {
    way.found = far[0] != kFar;
    at = 0;
    if (at == to || !way.found) return way;
    way.steps.push_back(at);
  }
  do {
    std::size_t best = kNone;
    std::uint64_t least = kFar, second = kFar;
    for (const std::size_t next : next_[at]) {
      const std::uint64_t cost = through(at, next);
      if (cost < least) {
        second = least;
        least = cost;
        best = next;
      } else {
        second = std::min(second, cost);
      }
    }
    if (best == kNone) return {};
    if (at < code_.size() && code_[at].target != kNone &&
        (is_test(code_[at].flow) || code_[at].flow == Flow::for_iter)) {
      const bool either = second != kFar && weight(second) == weight(least);
      if (is_test(code_[at].flow)) way.tests.emplace_back(at, either ? 0 : best == at + 1 ? 1 : -1);
    }
    at = best;
    if (at != to) way.steps.push_back(at);
  } while (at != to);
  way.found = true;
  return way;
}

const Way& CodeFlow::way(std::size_t from, std::size_t to) const {
  const std::size_t goal = to == kExit ? code_.size() : to;
  const auto known = ways_.find({from, goal});
  if (known != ways_.end()) return known->second;
  if (kept_steps_ > kMostKept) {
    ways_.clear();
    kept_steps_ = 0;
  }
  Way& way = ways_[{from, goal}] = made_way(from, goal);
  kept_steps_ += way.steps.size() + 1;
  return way;
}

bool CodeFlow::comes_again_unseen(std::size_t instruction) const {
  std::uint64_t least = kFar;
  const std::vector<std::uint64_t>& far = distances(instruction);
  for (const std::size_t next : next_[instruction])
    if (far[next] != kFar) least = std::min(least, far[next] + cost(instruction, next, instruction));
  return least < kSeen;
}

}  // namespace lotus::analyzer::controlflow
