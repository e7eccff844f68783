#include "answers/plan/baselines.hpp"

#include <algorithm>
#include <map>

#include "answers/plan/cheapest.hpp"

namespace lotus::analyzer::memory_plan {
namespace {

// Addresses of fast memory in pages, given by best fit.
class Pool {
 public:
  explicit Pool(std::int64_t pages) {
    if (pages > 0) free_[0] = pages;
  }

  // The address; -1: there is no room.
  std::int64_t take(std::int64_t pages) {
    auto best = free_.end();
    for (auto hole = free_.begin(); hole != free_.end(); ++hole)
      if (hole->second >= pages && (best == free_.end() || hole->second < best->second)) best = hole;
    if (best == free_.end()) return -1;
    const auto [address, size] = *best;
    free_.erase(best);
    if (size > pages) free_[address + pages] = size - pages;
    return address;
  }

  void give_back(std::int64_t address, std::int64_t pages) {
    auto after = free_.lower_bound(address);
    if (after != free_.end() && after->first == address + pages) {
      pages += after->second;
      after = free_.erase(after);
    }
    if (after != free_.begin()) {
      const auto before = std::prev(after);
      if (before->first + before->second == address) {
        before->second += pages;
        return;
      }
    }
    free_[address] = pages;
  }

 private:
  std::map<std::int64_t, std::int64_t> free_;  // size by address
};

std::vector<std::size_t> by_birth(const Problem& problem) {
  std::vector<std::size_t> order(problem.items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return problem.items[a].segments.front().first < problem.items[b].segments.front().first;
  });
  return order;
}

void change(std::vector<std::int64_t>& taken, const Segment& segment, std::int64_t pages) {
  for (std::size_t k = segment.first; k <= segment.last; ++k) taken[k] += pages;
}

// Frees fast memory moment by moment.
class Evictor {
 public:
  Evictor(const Problem& problem, const std::vector<double>& seconds, std::int64_t limit)
      : problem_(problem), limit_(limit), places_(all_in(problem, true)), taken_(problem.needed()) {
    sums_.push_back(0);
    for (const double each : seconds) sums_.push_back(sums_.back() + each);
    sums_.resize(problem.moments + 1, sums_.back());
    at_.resize(problem.moments);
    for (std::size_t i = 0; i < problem.items.size(); ++i)
      for (std::size_t j = 0; j < problem.items[i].segments.size(); ++j)
        for (std::size_t k = problem.items[i].segments[j].first; k <= problem.items[i].segments[j].last; ++k)
          at_[k].emplace_back(i, j);
  }

  Placement run() {
    for (std::size_t k = 0; k < problem_.moments; ++k)
      while (taken_[k] > limit_ && (idle_leaves(k) || one_stays_slow(k))) continue;
    return std::move(places_);
  }

 private:
  void leave(std::size_t i, std::size_t j) {
    if (!places_[i][j]) return;
    places_[i][j] = false;
    change(taken_, problem_.items[i].segments[j], -problem_.items[i].pages);
  }

  // Bytes × idle seconds for a second of moves; -1: it does not idle there.
  double worth(std::size_t i, std::size_t j) const {
    const Item& item = problem_.items[i];
    const Segment& segment = item.segments[j];
    if (segment.use || !places_[i][j]) return -1;
    const double idle = sums_[segment.last + 1] - sums_[segment.first];
    auto moved = places_[i];
    const double before = seconds_of(item, moved);
    moved[j] = false;
    if (item.cyclic && j == 0) moved.back() = false;
    const double cost = seconds_of(item, moved) - before;
    return static_cast<double>(item.pages) * idle / std::max(cost, 1e-12);
  }

  bool idle_leaves(std::size_t k) {
    double most = -1;
    std::pair<std::size_t, std::size_t> best;
    for (const auto& [i, j] : at_[k])
      if (const double value = worth(i, j); value > most) {
        most = value;
        best = {i, j};
      }
    if (most < 0) return false;
    leave(best.first, best.second);
    const Item& item = problem_.items[best.first];
    if (item.cyclic && best.second == 0) leave(best.first, item.segments.size() - 1);
    return true;
  }

  bool one_stays_slow(std::size_t k) {
    double least = 0;
    std::size_t best = problem_.items.size();
    for (const auto& [i, j] : at_[k]) {
      if (!places_[i][j]) continue;
      const Item& item = problem_.items[i];
      const std::vector<bool> slow(item.segments.size(), false);
      const double cost =
          (seconds_of(item, slow) - seconds_of(item, places_[i])) / static_cast<double>(item.pages);
      if (best == problem_.items.size() || cost < least) {
        least = cost;
        best = i;
      }
    }
    if (best == problem_.items.size()) return false;
    for (std::size_t j = 0; j < places_[best].size(); ++j) leave(best, j);
    return true;
  }

  const Problem& problem_;
  std::int64_t limit_;
  Placement places_;
  std::vector<std::int64_t> taken_;
  std::vector<double> sums_;  // seconds of the operators before a moment
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> at_;  // items and segments, by moment
};

bool fits(const std::vector<std::int64_t>& taken, const Segment& segment, std::int64_t most) {
  for (std::size_t k = segment.first; k <= segment.last; ++k)
    if (taken[k] > most) return false;
  return true;
}

}  // namespace

Placement first_touch(const Problem& problem, std::int64_t limit_pages) {
  Pool pool(limit_pages - *std::max_element(problem.taken.begin(), problem.taken.end()));
  Placement placement = all_in(problem, false);
  std::multimap<std::size_t, std::pair<std::int64_t, std::int64_t>> ends;  // (address, pages) by last moment
  for (const std::size_t i : by_birth(problem)) {
    const Item& item = problem.items[i];
    while (!ends.empty() && ends.begin()->first < item.segments.front().first) {
      pool.give_back(ends.begin()->second.first, ends.begin()->second.second);
      ends.erase(ends.begin());
    }
    const std::int64_t address = pool.take(item.pages);
    if (address < 0) continue;
    placement[i].assign(item.segments.size(), true);
    ends.emplace(item.segments.back().last, std::pair{address, item.pages});
  }
  return placement;
}

Placement greedy(const Problem& problem, const std::vector<double>& seconds, std::int64_t limit_pages) {
  return Evictor(problem, seconds, limit_pages).run();
}

void improve(const Problem& problem, std::int64_t limit_pages, Placement& placement) {
  const PriceSums free(problem.moments + 1, 0.0);
  auto taken = taken_by(problem, placement);
  Cheapest cheapest;
  Choice choice;
  std::vector<Must> must;
  for (bool better = true; better;) {
    better = false;
    for (std::size_t i = 0; i < problem.items.size(); ++i) {
      const Item& item = problem.items[i];
      const double before = seconds_of(item, placement[i]);
      if (before <= 0) continue;
      for (std::size_t j = 0; j < item.segments.size(); ++j)
        if (placement[i][j]) change(taken, item.segments[j], -item.pages);
      must.assign(item.segments.size(), Must::anything);
      for (std::size_t j = 0; j < item.segments.size(); ++j)
        if (!fits(taken, item.segments[j], limit_pages - item.pages)) must[j] = Must::slow;
      cheapest.find(item, free, must, choice);
      if (choice.seconds < before * (1 - 1e-9)) {
        placement[i] = choice.places;
        better = true;
      }
      for (std::size_t j = 0; j < item.segments.size(); ++j)
        if (placement[i][j]) change(taken, item.segments[j], item.pages);
    }
  }
}

}  // namespace lotus::analyzer::memory_plan
