// Ways from one instruction of a code to another.
#include <algorithm>
#include <queue>

#include "answers/controlflow/code_flow.hpp"

namespace lotus::analyzer::controlflow {
namespace {

constexpr std::uint64_t kFar = ~std::uint64_t{0};
// Of what a way costs; below: its instructions. An instruction that would have been seen contradicts, an
// exception is only the last thing to suppose.
constexpr std::uint64_t kSeen = std::uint64_t{1} << 48, kWithEnd = std::uint64_t{1} << 44,
                        kRaised = std::uint64_t{1} << 40, kBack = std::uint64_t{1} << 24;

// Numbers that are kept of a code so as not to be found again: only crafted ones have as many.
constexpr std::size_t kMostKept = 4'000'000;

}  // namespace

std::uint64_t CodeFlow::cost(std::size_t from, std::size_t to, std::size_t goal) const {
  std::uint64_t cost = 1;
  if (to != goal && seen_.contains(to)) cost += kSeen;
  if (back_.contains({from, to})) cost += kBack;
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
    const auto reach = [&](std::size_t from, std::uint64_t through) {
      if (through >= far[from]) return;
      far[from] = through;
      open.push({through, from});
    };
    for (const std::size_t from : before_[at]) reach(from, distance + cost(from, at, to));
    for (std::size_t h = 0; h < handlers_.size(); ++h)
      if (handlers_[h].at == at)
        for (const std::size_t from : raised_from_[h]) reach(from, distance + cost(from, at, to) + price(at));
  }
  return far;
}

// Of an exception that goes on at a handler.
std::uint64_t CodeFlow::price(std::size_t handler) const {
  return handlers_[handler_at_[handler]].is_with ? kWithEnd : kRaised;
}

// None of what is counted is known to be right.
void CodeFlow::doubt_all(Way& way) const {
  for (std::size_t l = 0; l < loops_.size(); ++l) way.doubted_loops.push_back(l);
  for (auto& [test, side] : way.tests) side = 0;
  for (std::size_t i = 0; i < code_.size(); ++i)
    if (is_test(code_[i].flow) && !is_loop_test(i)) way.doubted_tests.push_back(i);
}

void CodeFlow::set_seen(const std::set<std::size_t>& seen) {
  seen_ = seen;
  distances_.clear();
  ways_.clear();
  kept_steps_ = 0;
}

Way CodeFlow::made_way(std::size_t from, std::size_t to) const {
  const std::vector<std::uint64_t>& far = distances(to);
  Way way;
  const auto through = [&](std::size_t at, std::size_t next) {
    return far[next] == kFar ? kFar : far[next] + cost(at, next, to);
  };
  bool ends_with = false;
  std::size_t at = from;
  if (from == kEntry) {
    way.found = far[0] != kFar;
    at = 0;
    if (at == to || !way.found) return way;
    way.passes_seen = seen_.contains(at);
    way.steps.push_back(at);
  }
  do {
    std::size_t best = kNone;
    std::uint64_t least = kFar;
    bool by_exception = false;
    for (const auto& [next, raised] : followers(at)) {
      std::uint64_t cost = through(at, next);
      if (cost != kFar && raised) cost += price(next);
      if (cost >= least) continue;
      least = cost;
      best = next;
      by_exception = raised;
    }
    if (best == kNone) return {};
    way.passes_seen = way.passes_seen || least >= kSeen;
    ends_with = ends_with || (by_exception && handlers_[handler_at_[best]].is_with);
    if (!by_exception && is_test(code_[at].flow)) way.tests.emplace_back(at, enters(at, best) ? 1 : -1);
    at = best;
    if (at != to) way.steps.push_back(at);
  } while (at != to);
  way.found = true;
  if (way.passes_seen)
    doubt_all(way);
  else
    find_doubts(from, to, ends_with, way);
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
  for (const auto& [next, raised] : followers(instruction))
    if (far[next] != kFar)
      least = std::min(least, far[next] + cost(instruction, next, instruction) + (raised ? price(next) : 0));
  return least < kSeen;
}

}  // namespace lotus::analyzer::controlflow
