// The cheapest places of a single storage when fast memory has a price.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "answers/plan/placement.hpp"

namespace lotus::analyzer::memory_plan {

// What is settled about a segment.
enum class Must : std::uint8_t { anything, slow, fast };

// Seconds a page and moment of fast memory, summed up: entry k is the price of the moments before k.
using PriceSums = std::vector<double>;

inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct Choice {
  double seconds = 0;  // with what fast memory costs; infinite: what is settled cannot be
  std::vector<bool> places;
};

// By dynamic programming over the segments, with three states: in slow memory, in fast memory with a valid
// copy in slow memory, in fast memory only. `must`: by segment. Keeps its working memory from call to call.
class Cheapest {
 public:
  void find(const Item& item, const PriceSums& prices, const std::vector<Must>& must, Choice& choice);

 private:
  enum State : std::uint8_t { slow, clean, dirty, kStates };

  double run(const Item& item, const PriceSums& prices, const std::vector<Must>& must, State start,
             State& best);
  void trace(const Item& item, State state, std::vector<bool>& places) const;

  std::vector<std::uint8_t> parents_;  // by segment and state
};

}  // namespace lotus::analyzer::memory_plan
