#include "answers/stats/block_mean.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lotus::analyzer {

void BlockMean::add(double calls, double sum) {
  blocks_ += 1;
  calls_ += calls;
  sum_ += sum;
  calls_squared_ += calls * calls;
  sum_squared_ += sum * sum;
  product_ += calls * sum;
}

Estimate BlockMean::estimate() const {
  if (calls_ <= 0) return {};
  const double mean = sum_ / calls_;
  if (blocks_ < 2) return {mean, std::numeric_limits<double>::infinity()};
  const double squares = sum_squared_ - 2 * mean * product_ + mean * mean * calls_squared_;
  return {mean, std::sqrt(std::max(0.0, squares) * blocks_ / (blocks_ - 1)) / calls_, blocks_ - 1};
}

void BlockMean::add(const BlockMean& other) {
  blocks_ += other.blocks_;
  calls_ += other.calls_;
  sum_ += other.sum_;
  calls_squared_ += other.calls_squared_;
  sum_squared_ += other.sum_squared_;
  product_ += other.product_;
}

}  // namespace lotus::analyzer
