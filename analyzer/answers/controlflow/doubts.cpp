// What of a way between two instructions is certain: where there are several that pass nothing that would
// have been seen, counts are what all of them have.
#include <algorithm>
#include <deque>

#include "answers/controlflow/code_flow.hpp"

namespace lotus::analyzer::controlflow {
namespace {

constexpr std::size_t kMostWork = 20'000'000;  // edges times what is counted; only crafted codes need more

}  // namespace

// Nodes: 0 where the ways start, 1 where they end, then the instructions between.
struct CodeFlow::Unseen {
  struct Edge {
    std::size_t from = 0, to = 0;  // nodes
    std::size_t at = 0, next = 0;  // instructions, kEntry
    bool raised = false;
  };
  std::vector<std::vector<Edge>> from;  // by node
  std::size_t edges = 0;
};

// Instructions that can follow one or kEntry, and whether by an exception.
std::vector<std::pair<std::size_t, bool>> CodeFlow::followers(std::size_t at) const {
  if (at == kEntry) return {{0, false}};
  std::vector<std::pair<std::size_t, bool>> all;
  if (at >= code_.size()) return all;
  for (const std::size_t next : next_[at]) all.emplace_back(next, false);
  for (const std::size_t h : raises_[at]) all.emplace_back(handlers_[h].at, true);
  return all;
}

CodeFlow::Unseen CodeFlow::unseen_between(std::size_t from, std::size_t goal, bool with_exits) const {
  const auto possible = [&](std::size_t next, bool raised) {
    if (!raised) return true;
    const Handler& handler = handlers_[handler_at_[next]];
    return (with_exits || !handler.is_with || next == goal) && (handler.goes_on || goal != code_.size());
  };
  const auto between = [&](std::size_t at) { return at < code_.size() && !seen_.contains(at); };
  std::vector<std::size_t> node(code_.size() + 1, kNone);
  std::vector<std::size_t> instructions{from, goal};
  std::vector<Unseen::Edge> found;
  for (std::size_t n = 0; n < instructions.size(); ++n) {
    if (n == 1) continue;
    const std::size_t at = instructions[n];
    for (const auto& [next, raised] : followers(at)) {
      if (!possible(next, raised) || (next == code_.size() && raises_on_[at])) continue;
      if (next == goal) found.push_back({n, 1, at, next, raised});
      if (!between(next)) continue;
      if (node[next] == kNone) {
        node[next] = instructions.size();
        instructions.push_back(next);
      }
      found.push_back({n, node[next], at, next, raised});
    }
  }
  // Only what leads to the goal.
  std::vector<std::vector<std::size_t>> into(instructions.size());
  for (std::size_t e = 0; e < found.size(); ++e) into[found[e].to].push_back(e);
  std::vector<bool> leads(instructions.size(), false);
  leads[1] = true;
  std::vector<std::size_t> open{1};
  while (!open.empty()) {
    const std::size_t n = open.back();
    open.pop_back();
    for (const std::size_t e : into[n])
      if (!leads[found[e].from]) {
        leads[found[e].from] = true;
        open.push_back(found[e].from);
      }
  }
  Unseen unseen;
  unseen.from.resize(instructions.size());
  for (const Unseen::Edge& edge : found)
    if (leads[edge.to]) {
      unseen.from[edge.from].push_back(edge);
      ++unseen.edges;
    }
  return unseen;
}

namespace {

// Whether a sum over edges is the same along all ways from node 0 to node 1: then each node has one value.
template <class Edges, class Weight>
bool is_same_everywhere(const Edges& from, Weight weight) {
  std::vector<bool> known(from.size(), false);
  std::vector<long> value(from.size(), 0);
  std::vector<std::size_t> open{0};
  known[0] = true;
  while (!open.empty()) {
    const std::size_t n = open.back();
    open.pop_back();
    for (const auto& edge : from[n]) {
      const long there = value[n] + weight(edge);
      if (known[edge.to]) {
        if (value[edge.to] != there) return false;
        continue;
      }
      known[edge.to] = true;
      value[edge.to] = there;
      open.push_back(edge.to);
    }
  }
  return true;
}

}  // namespace

void CodeFlow::find_doubts(std::size_t from, std::size_t goal, bool with_exits, Way& way) const {
  const Unseen unseen = unseen_between(from, goal, with_exits);
  const bool single = std::all_of(unseen.from.begin(), unseen.from.end(),
                                  [](const auto& edges) { return edges.size() <= 1; });
  if (single && from != goal) return;
  std::set<std::size_t> loops, tests;
  for (const std::vector<Unseen::Edge>& edges : unseen.from)
    for (const Unseen::Edge& edge : edges) {
      if (edge.at < code_.size() && is_test(code_[edge.at].flow) && !edge.raised && !is_loop_test(edge.at))
        tests.insert(edge.at);
      for (std::size_t l = 0; l < loops_.size(); ++l) {
        const LoopStep step = loop_step(l, edge.at, edge.next);
        if (step.entries + step.iterations > 0) loops.insert(l);
      }
    }
  if (from == goal) {
    way.passed_loops.assign(loops.begin(), loops.end());
    way.passed_tests.assign(tests.begin(), tests.end());
  }
  if (single) return;
  const bool too_many = unseen.edges * (loops.size() + tests.size()) > kMostWork;
  for (const std::size_t l : loops) {
    const bool same = !too_many && is_same_everywhere(unseen.from, [&](const Unseen::Edge& edge) {
      return static_cast<long>(loop_step(l, edge.at, edge.next).entries);
    }) && is_same_everywhere(unseen.from, [&](const Unseen::Edge& edge) {
      return static_cast<long>(loop_step(l, edge.at, edge.next).iterations);
    });
    if (!same) way.doubted_loops.push_back(l);
  }
  for (const std::size_t t : tests) {
    const auto passes = [&](bool entering, bool other) {
      return !too_many && is_same_everywhere(unseen.from, [&](const Unseen::Edge& edge) {
        if (edge.at != t || edge.raised) return 0L;
        return (enters(t, edge.next) ? entering : other) ? 1L : 0L;
      });
    };
    const bool entered = passes(true, false), passed = passes(false, true);
    if (entered && passed) continue;
    for (auto& [test, side] : way.tests)
      if (test == t && !(side > 0 ? entered : passed)) side = 0;
    if (!passes(true, true)) way.doubted_tests.push_back(t);
  }
}

std::set<std::size_t> CodeFlow::passed_unseen(std::size_t from, std::size_t to) const {
  const std::size_t goal = to == kExit ? code_.size() : to;
  // From the start: the fewest seen ones before each instruction; then back from the goal.
  const std::size_t start = code_.size() + 1, end = code_.size() + 2;
  std::vector<std::size_t> least(code_.size() + 3, kNone);
  std::vector<std::vector<std::size_t>> into(code_.size() + 3);
  const auto price = [&](std::size_t node) { return node < code_.size() && seen_.contains(node) ? 1u : 0u; };
  std::deque<std::size_t> open{start};
  least[start] = 0;
  std::vector<bool> done(code_.size() + 3, false);
  while (!open.empty()) {
    const std::size_t node = open.front();
    open.pop_front();
    if (node == end || done[node]) continue;
    done[node] = true;
    const auto reach = [&](std::size_t next) {
      const std::size_t through = least[node] + price(next);
      into[next].push_back(node);
      if (least[next] != kNone && least[next] <= through) return;
      least[next] = through;
      if (price(next) == 0)
        open.push_front(next);
      else
        open.push_back(next);
    };
    for (const auto& [next, raised] : followers(node == start ? from : node)) {
      if (next == goal) reach(end);
      if (next < code_.size()) reach(next);
    }
  }
  std::set<std::size_t> passed;
  if (least[end] == kNone || least[end] == 0) return passed;
  std::vector<bool> known(code_.size() + 3, false);
  std::vector<std::size_t> back{end};
  known[end] = true;
  while (!back.empty()) {
    const std::size_t node = back.back();
    back.pop_back();
    if (price(node) > 0) passed.insert(node);
    for (const std::size_t before : into[node])
      if (!known[before] && least[before] + price(node) == least[node]) {
        known[before] = true;
        back.push_back(before);
      }
  }
  return passed;
}

}  // namespace lotus::analyzer::controlflow
