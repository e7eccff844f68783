// The mean of what calls took or counted, where calls come in blocks.
#pragma once

#include <cstdint>

#include "answers/stats/estimate.hpp"

namespace lotus::analyzer {

// The mean over calls that are grouped into blocks, one for each batch. Calls of a batch are not independent,
// so the error of the mean is computed from the variance between blocks (ratio estimator).
class BlockMean {
 public:
  // A block: its calls, and the sum of what they took.
  void add(double calls, double sum);
  // All blocks of another one.
  void add(const BlockMean& other);
  std::uint64_t calls() const { return static_cast<std::uint64_t>(calls_); }
  // Of fewer than two blocks the error is not known: infinite.
  Estimate estimate() const;

 private:
  double blocks_ = 0, calls_ = 0, sum_ = 0, calls_squared_ = 0, sum_squared_ = 0, product_ = 0;
};

}  // namespace lotus::analyzer
