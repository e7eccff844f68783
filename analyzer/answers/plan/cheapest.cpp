#include "answers/plan/cheapest.hpp"

namespace lotus::analyzer::memory_plan {

double Cheapest::run(const Item& item, const PriceSums& prices, const std::vector<Must>& must, State start,
                     State& best) {
  double cost[kStates] = {kNever, kNever, kNever};
  for (std::size_t j = 0; j < item.segments.size(); ++j) {
    const Segment& segment = item.segments[j];
    double next[kStates] = {kNever, kNever, kNever};
    std::uint8_t* parent = &parents_[j * kStates];
    const auto reach = [&](State to, State from, double seconds) {
      if (seconds < next[to]) {
        next[to] = seconds;
        parent[to] = from;
      }
    };
    if (j == 0) {
      next[start] = 0;
    } else {
      reach(slow, slow, cost[slow]);
      if (item.segments[j - 1].use) {
        reach(slow, clean, cost[clean]);
        reach(slow, dirty, cost[dirty] + item.out_seconds);
      }
      const State into = segment.written ? dirty : clean;
      reach(into, clean, cost[clean]);
      if (segment.use) reach(into, slow, cost[slow] + item.in_seconds);
      reach(dirty, dirty, cost[dirty]);
    }
    const double rent = static_cast<double>(item.pages) * (prices[segment.last + 1] - prices[segment.first]);
    next[slow] = must[j] == Must::fast ? kNever : next[slow] + segment.slow_seconds;
    next[clean] = must[j] == Must::slow ? kNever : next[clean] + rent;
    next[dirty] = must[j] == Must::slow ? kNever : next[dirty] + rent;
    for (int state = 0; state < kStates; ++state) cost[state] = next[state];
  }
  const bool ends_slow = !item.cyclic || start == slow, ends_fast = !item.cyclic || start != slow;
  double least = kNever;
  for (const State state : {slow, clean, dirty})
    if ((state == slow ? ends_slow : ends_fast) && cost[state] < least) {
      least = cost[state];
      best = state;
    }
  return least;
}

void Cheapest::trace(const Item& item, State state, std::vector<bool>& places) const {
  places.resize(item.segments.size());
  for (std::size_t j = item.segments.size(); j-- > 0;) {
    places[j] = state != slow;
    state = static_cast<State>(parents_[j * kStates + state]);
  }
}

void Cheapest::find(const Item& item, const PriceSums& prices, const std::vector<Must>& must,
                    Choice& choice) {
  parents_.assign(item.segments.size() * kStates, slow);
  State end = slow;
  choice.seconds = run(item, prices, must, slow, end);
  if (choice.seconds < kNever) trace(item, end, choice.places);
  State other = slow;
  const double seconds = run(item, prices, must, dirty, other);
  if (seconds < choice.seconds) {
    choice.seconds = seconds;
    trace(item, other, choice.places);
  }
}

}  // namespace lotus::analyzer::memory_plan
