#include "answers/stats/series.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lotus::analyzer {

void Series::keep(std::int64_t ns) {
  sorted_ = false;
  values_.push_back(ns);
  if (values_.size() <= kExact) return;
  buckets_.resize(kBuckets);
  for (const std::int64_t value : values_) ++buckets_[bucket_of(value)];
  values_ = {};
}

// Negative values share the bucket of 0.
std::size_t Series::bucket_of(std::int64_t ns) {
  const std::uint64_t value = ns < 0 ? 0 : static_cast<std::uint64_t>(ns);
  if (value < (std::uint64_t{1} << kFine)) return value;
  const auto exponent = static_cast<unsigned>(std::bit_width(value)) - 1;
  const std::uint64_t fraction = value >> (exponent - kFine);  // 2^kFine to 2^(kFine+1) − 1
  return (std::size_t{exponent - kFine} << kFine) + fraction;
}

// The middle of the bucket: at most half a bucket, 1/256, from each value in it.
double Series::value_of(std::size_t bucket) {
  if (bucket < (std::size_t{1} << kFine)) return static_cast<double>(bucket);
  const auto shift = static_cast<int>((bucket >> kFine) - 1);
  const std::size_t fraction = bucket - (static_cast<std::size_t>(shift) << kFine);
  return std::ldexp(static_cast<double>(fraction) + 0.5, shift) - 0.5;
}

double Series::mean() const { return empty() ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }

double Series::std() const {
  if (empty()) return 0;
  // The sums are exact, and 64 bits of mantissa are enough for their difference.
  const auto n = static_cast<long double>(count_);
  const long double center = static_cast<long double>(sum_) / n;
  const long double variance = static_cast<long double>(squares_) / n - center * center;
  return variance > 0 ? static_cast<double>(std::sqrt(variance)) : 0;
}

double Series::at_rank(std::uint64_t rank) const {
  if (buckets_.empty()) return static_cast<double>(values_[rank]);
  std::uint64_t below = 0;
  std::size_t bucket = 0;
  while (bucket + 1 < buckets_.size() && below + buckets_[bucket] <= rank) below += buckets_[bucket++];
  return std::clamp(value_of(bucket), min(), max());
}

double Series::quantile(double q) const {
  if (empty()) return 0;
  if (!sorted_) {
    std::sort(values_.begin(), values_.end());
    sorted_ = true;
  }
  const double position = q * static_cast<double>(count_ - 1);
  const auto below = static_cast<std::uint64_t>(position);
  const double low = at_rank(below);
  const double high = at_rank(std::min(below + 1, count_ - 1));
  return low + (high - low) * (position - static_cast<double>(below));
}

Summary Series::summary() const {
  return {count_,         mean(),         std(),          min(),          quantile(0.25),
          quantile(0.50), quantile(0.75), quantile(0.90), quantile(0.99), max()};
}

Series Series::at_least(double lowest) const {
  Series rest;
  for (const std::int64_t value : values_)
    if (static_cast<double>(value) >= lowest) rest.add(value);
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    const double value = value_of(bucket);
    if (value < lowest) continue;
    for (std::uint64_t i = 0; i < buckets_[bucket]; ++i) rest.add(static_cast<std::int64_t>(value));
  }
  return rest;
}

}  // namespace lotus::analyzer
