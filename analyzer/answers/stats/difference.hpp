// How a quantity differs between two runs.
#pragma once

#include <cmath>

#include "answers/stats/estimate.hpp"

namespace lotus::analyzer {

struct Difference {
  Estimate before, after;
  double low = 0, high = 0;  // interval of after − before
  bool certain = false;      // the interval does not hold 0

  double size() const { return std::abs(after.mean - before.mean); }
};

// Makes the interval that holds the true difference with `probability`.
void judge(Difference& change, double probability);

}  // namespace lotus::analyzer
