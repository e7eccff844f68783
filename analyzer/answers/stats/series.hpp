// Statistics of a series of durations, in bounded memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lotus::analyzer {

__extension__ using Int128 = __int128;  // sums of squares of ns stay exact

// The reported statistics, all in ns (percentages excepted by their users).
struct Summary {
  std::uint64_t count = 0;
  double mean = 0, std = 0;  // std: of the population
  double min = 0, p25 = 0, p50 = 0, p75 = 0, p90 = 0, p99 = 0, max = 0;

  // Q1 − 2·(Q3 − Q1): batches that took less are partial ones; Section "Definitions" of lotus-analyze(1).
  double trimming_limit() const { return p25 - 2 * (p75 - p25); }
};

class Series {
 public:
  // Up to this number of values, all are kept and percentiles are exact.
  static constexpr std::size_t kExact = 1 << 16;
  static constexpr std::int64_t kMost = 10'000'000'000'000'000;

  // Adds a duration in ns; negative ones (possible for a delay across a damaged clock) are allowed.
  // Longer ones than kMost, 115 days, are damage: they count as kMost.
  void add(std::int64_t ns) {
    ns = std::clamp(ns, -kMost, kMost);
    ++count_;
    sum_ += ns;
    if (__builtin_add_overflow(squares_, static_cast<Int128>(ns) * ns, &squares_)) squares_ = kMostSquares;
    min_ = ns < min_ ? ns : min_;
    max_ = ns > max_ ? ns : max_;
    if (buckets_.empty())
      keep(ns);
    else
      ++buckets_[bucket_of(ns)];
  }

  std::uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  double sum() const { return static_cast<double>(sum_); }
  double mean() const;
  double std() const;
  double min() const { return empty() ? 0 : static_cast<double>(min_); }
  double max() const { return empty() ? 0 : static_cast<double>(max_); }
  // The quantile q in [0, 1], linearly interpolated as NumPy's default. Exact up to kExact values, else
  // within 0.5 % of the value.
  double quantile(double q) const;
  Summary summary() const;

  // The series without the values below `lowest` ns.
  Series at_least(double lowest) const;

 private:
  // Buckets of a fixed relative width: 2^kFine for each power of two. Values below 2^kFine have their own.
  static constexpr unsigned kFine = 7;
  static constexpr std::size_t kBuckets = std::size_t{64 - kFine + 1} << kFine;

  static std::size_t bucket_of(std::int64_t ns);
  static double value_of(std::size_t bucket);
  void keep(std::int64_t ns);
  double at_rank(std::uint64_t rank) const;

  // Reached only by a damaged trace: by a million durations of kMost.
  static constexpr Int128 kMostSquares = ((Int128{1} << 126) - 1) * 2 + 1;

  std::uint64_t count_ = 0;
  Int128 sum_ = 0;
  Int128 squares_ = 0;
  std::int64_t min_ = INT64_MAX, max_ = INT64_MIN;
  mutable std::vector<std::int64_t> values_;
  mutable bool sorted_ = true;
  std::vector<std::uint64_t> buckets_;
};

}  // namespace lotus::analyzer
