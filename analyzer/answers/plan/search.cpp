#include "answers/plan/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <queue>

#include "answers/plan/baselines.hpp"
#include "answers/plan/cheapest.hpp"

namespace lotus::analyzer::memory_plan {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRootRounds = 3000, kNodeRounds = 40;  // of changing prices
constexpr int kLeastRounds = 200;       // of the root: cheap, and well within the gap for most steps
constexpr int kRoundsWithoutGain = 30;  // then steps get smaller, by this factor
constexpr double kSmaller = 0.7;
constexpr int kRoundsToRepair = 20;  // of each, one leads to a placement
constexpr double kKept = 0.95;       // of the last direction, in the next one

struct Settled {
  std::size_t item, segment;
  Must must;
};

struct Node {
  double bound = 0;
  std::vector<Settled> settled;
  std::vector<double> prices;  // seconds a page, by moment
};

struct LaterFirst {
  bool operator()(const Node& a, const Node& b) const { return a.bound > b.bound; }
};

class Search {
 public:
  Search(const Problem& problem, std::int64_t limit, const Effort& effort, Placement start)
      : problem_(problem),
        limit_(limit),
        effort_(effort),
        ends_(Clock::now() + seconds(effort.time_limit_s)) {
    best_.placement = std::move(start);
    best_.seconds = seconds_of(problem, best_.placement);
    best_.bound = problem.base_seconds;
    for (const Item& item : problem.items) {
      must_.emplace_back(item.segments.size(), Must::anything);
      share_.emplace_back(item.segments.size(), 0.0);
    }
    choices_.resize(problem.items.size());
    const auto needed = problem.needed();
    for (std::size_t k = 0; k < problem.moments; ++k)
      if (needed[k] > limit) tight_.push_back(k);
  }

  void bound_root() {
    Node root{.bound = problem_.base_seconds, .settled = {}, .prices = first_prices()};
    if (solve(root, kRootRounds)) open_.push(std::move(root));
    best_.bound = open_bound();
  }

  void branch() {
    while (!open_.empty() && !good_enough() && Clock::now() < ends_) {
      Node node = open_.top();
      open_.pop();
      split(node);
      best_.bound = std::max(best_.bound, open_bound());
    }
  }

  Solved take() { return std::move(best_); }

 private:
  static Clock::duration seconds(double count) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(count, 1e8)));
  }

  // Nodes that are closed hold nothing better than the best placement.
  double open_bound() const {
    return open_.empty() ? best_.seconds : std::min(best_.seconds, open_.top().bound);
  }

  bool good_enough() const { return best_.reached(effort_.gap); }
  bool worthless(double bound) const { return bound >= best_.seconds * (1 - 1e-12); }

  std::vector<double> first_prices() const { return std::vector<double>(problem_.moments, 0.0); }

  // The least seconds with these prices, and the choices that lead to it.
  double priced(const std::vector<double>& prices) {
    sums_.assign(problem_.moments + 1, 0.0);
    std::partial_sum(prices.begin(), prices.end(), sums_.begin() + 1);
    double total = problem_.base_seconds;
    for (std::size_t i = 0; i < problem_.items.size(); ++i) {
      cheapest_.find(problem_.items[i], sums_, must_[i], choices_[i]);
      total += choices_[i].seconds;
    }
    for (const std::size_t k : tight_) total -= prices[k] * static_cast<double>(limit_ - problem_.taken[k]);
    return total;
  }

  void count_taken() {
    taken_.assign(problem_.moments + 1, 0);
    for (std::size_t i = 0; i < problem_.items.size(); ++i)
      for (std::size_t j = 0; j < choices_[i].places.size(); ++j)
        if (choices_[i].places[j]) {
          taken_[problem_.items[i].segments[j].first] += problem_.items[i].pages;
          taken_[problem_.items[i].segments[j].last + 1] -= problem_.items[i].pages;
        }
    std::partial_sum(taken_.begin(), taken_.end(), taken_.begin());
    for (std::size_t k = 0; k < problem_.moments; ++k) taken_[k] += problem_.taken[k];
  }

  bool chosen_fits() const {
    return std::all_of(tight_.begin(), tight_.end(), [&](std::size_t k) { return taken_[k] <= limit_; });
  }

  void offer(Placement&& placement) {
    const double found = seconds_of(problem_, placement);
    if (found >= best_.seconds) return;
    best_.seconds = found;
    best_.placement = std::move(placement);
  }

  Placement chosen() const {
    Placement placement;
    placement.reserve(choices_.size());
    for (const Choice& choice : choices_) placement.push_back(choice.places);
    return placement;
  }

  void settle(const Node& node, bool undo) {
    for (const Settled& one : node.settled) must_[one.item][one.segment] = undo ? Must::anything : one.must;
  }

  // Whether what is settled to be in fast memory is more than the limit.
  bool settled_too_much(const Node& node) const {
    std::vector<std::int64_t> taken(problem_.moments + 1);
    for (const Settled& one : node.settled) {
      if (one.must != Must::fast) continue;
      const Item& item = problem_.items[one.item];
      taken[item.segments[one.segment].first] += item.pages;
      taken[item.segments[one.segment].last + 1] -= item.pages;
    }
    std::partial_sum(taken.begin(), taken.end(), taken.begin());
    for (std::size_t k = 0; k < problem_.moments; ++k)
      if (taken[k] + problem_.taken[k] > limit_) return true;
    return false;
  }

  // Raises the node's bound. False: the node is done with, as it holds nothing better than the best
  // placement.
  bool solve(Node& node, int rounds) {
    if (settled_too_much(node)) return false;
    settle(node, false);
    const bool open = free_choice(node) && raise(node, rounds);
    settle(node, true);
    return open;
  }

  // Without prices: either what is best fits, or its time is a bound.
  bool free_choice(Node& node) {
    const double least = priced(first_prices());
    if (least == kNever) return false;
    node.bound = std::max(node.bound, least);
    count_taken();
    if (!chosen_fits()) return !worthless(node.bound);
    offer(chosen());
    return false;
  }

  bool raise(Node& node, int rounds) {
    std::vector<double> prices = node.prices, direction(problem_.moments, 0.0);
    double scale = 1, last = -kNever;
    int without_gain = 0;
    for (int round = 0; round < rounds && Clock::now() < ends_; ++round) {
      const double bound = priced(prices);
      count_taken();
      note_shares(round);
      if (bound > last) node.prices = prices;
      without_gain = bound > last ? 0 : without_gain + 1;
      last = std::max(last, bound);
      node.bound = std::max(node.bound, bound);
      if (chosen_fits()) offer(chosen());
      if (round % kRoundsToRepair == kRoundsToRepair - 1 || round == 0) repair();
      if (worthless(node.bound)) return false;
      if (node.settled.empty() && round >= kLeastRounds &&
          best_.seconds - node.bound <= effort_.gap * best_.seconds)
        return true;
      if (without_gain >= kRoundsWithoutGain) {
        scale *= kSmaller;
        without_gain = 0;
        prices = node.prices;
      }
      if (scale < 1e-3 || !step(prices, direction, scale, bound)) break;
    }
    return true;
  }

  // Where too much is taken, prices rise; where room is left, they fall.
  bool step(std::vector<double>& prices, std::vector<double>& direction, double scale, double bound) const {
    double norm = 0;
    for (const std::size_t k : tight_) {
      const auto over = static_cast<double>(taken_[k] - limit_);
      direction[k] = kKept * direction[k] + (1 - kKept) * (over < 0 && prices[k] <= 0 ? 0 : over);
      norm += direction[k] * direction[k];
    }
    if (norm <= 0) return false;
    const double length = scale * std::max(best_.seconds - bound, 1e-6 * best_.seconds) / norm;
    for (const std::size_t k : tight_) prices[k] = std::max(0.0, prices[k] + length * direction[k]);
    return true;
  }

  // How often each segment was in fast memory lately: near one half, it is worth settling.
  void note_shares(int round) {
    const double kept = round == 0 ? 0 : 0.9;
    for (std::size_t i = 0; i < choices_.size(); ++i)
      for (std::size_t j = 0; j < choices_[i].places.size(); ++j)
        share_[i][j] = kept * share_[i][j] + (1 - kept) * (choices_[i].places[j] ? 1 : 0);
  }

  // A placement that fits, led by the prices: storages in order of what fast memory is worth to them a page
  // and moment, each where there is still room; then what is left of the room is used.
  void repair() {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < problem_.items.size(); ++i) {
      const Item& item = problem_.items[i];
      const double slow = seconds_of(item, std::vector<bool>(item.segments.size(), false));
      double room = 0;
      for (std::size_t j = 0; j < item.segments.size(); ++j)
        if (choices_[i].places[j])
          room += static_cast<double>(item.pages) *
                  static_cast<double>(item.segments[j].last - item.segments[j].first + 1);
      order.emplace_back(-(slow - seconds_of(item, choices_[i].places)) / std::max(room, 1.0), i);
    }
    std::sort(order.begin(), order.end());
    Placement placement = all_in(problem_, false);
    std::vector<std::int64_t> taken = problem_.taken;
    Choice choice;
    for (const auto& [worth, i] : order) {
      const Item& item = problem_.items[i];
      std::vector<Must> must = must_[i];
      for (std::size_t j = 0; j < item.segments.size(); ++j)
        if (!room_for(item, j, taken)) must[j] = Must::slow;
      cheapest_.find(item, sums_, must, choice);
      if (choice.seconds == kNever) continue;
      placement[i] = choice.places;
      for (std::size_t j = 0; j < item.segments.size(); ++j)
        if (placement[i][j])
          for (std::size_t k = item.segments[j].first; k <= item.segments[j].last; ++k)
            taken[k] += item.pages;
    }
    improve(problem_, limit_, placement);
    offer(std::move(placement));
  }

  bool room_for(const Item& item, std::size_t j, const std::vector<std::int64_t>& taken) const {
    for (std::size_t k = item.segments[j].first; k <= item.segments[j].last; ++k)
      if (taken[k] + item.pages > limit_) return false;
    return true;
  }

  // The segment that is least decided among those that nothing is settled of.
  bool undecided(const Node& node, Settled& found) {
    settle(node, false);
    double most = -1;
    for (std::size_t i = 0; i < problem_.items.size(); ++i)
      for (std::size_t j = 0; j < must_[i].size(); ++j) {
        if (must_[i][j] != Must::anything) continue;
        const double doubt =
            (0.5 - std::abs(share_[i][j] - 0.5)) * std::sqrt(static_cast<double>(problem_.items[i].pages));
        if (doubt <= most) continue;
        most = doubt;
        found = {i, j, Must::fast};
      }
    settle(node, true);
    return most >= 0;
  }

  void split(const Node& node) {
    Settled one{0, 0, Must::fast};
    if (worthless(node.bound) || !undecided(node, one)) return;
    for (const Must must : {Must::fast, Must::slow}) {
      one.must = must;
      Node child = node;
      child.settled.push_back(one);
      if (solve(child, kNodeRounds)) open_.push(std::move(child));
    }
  }

  const Problem& problem_;
  std::int64_t limit_;
  Effort effort_;
  Clock::time_point ends_;
  Solved best_;
  std::vector<std::size_t> tight_;  // moments at which all together are more than the limit
  std::vector<std::vector<Must>> must_;
  std::vector<std::vector<double>> share_;
  std::vector<Choice> choices_;
  std::vector<std::int64_t> taken_;
  PriceSums sums_;
  Cheapest cheapest_;
  std::priority_queue<Node, std::vector<Node>, LaterFirst> open_;
};

}  // namespace

Solved search(const Problem& problem, std::int64_t limit_pages, const Effort& effort, Placement start) {
  Search solver(problem, limit_pages, effort, std::move(start));
  solver.bound_root();
  solver.branch();
  return solver.take();
}

double bound_of(const Problem& problem, std::int64_t limit_pages, const Effort& effort,
                const Placement& known) {
  Search solver(problem, limit_pages, effort, known);
  solver.bound_root();
  return solver.take().bound;
}

}  // namespace lotus::analyzer::memory_plan
