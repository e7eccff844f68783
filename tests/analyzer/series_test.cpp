// Statistics, compared with simple and slow implementations.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "answers/stats/series.hpp"

using lotus::analyzer::Series;
using lotus::analyzer::Summary;

namespace {

// NumPy's default quantile: linear interpolation between the two nearest ranks.
double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double position = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(std::floor(position));
  const std::size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (values[high] - values[low]) * (position - static_cast<double>(low));
}

std::vector<double> log_normal(std::size_t count, double sigma) {
  std::mt19937_64 random(count);
  std::lognormal_distribution<double> distribution(std::log(5e6), sigma);
  std::vector<double> values(count);
  for (auto& value : values) value = std::round(distribution(random));
  return values;
}

Series series_of(const std::vector<double>& values) {
  Series series;
  for (const double value : values) series.add(static_cast<std::int64_t>(value));
  return series;
}

void check_moments(const std::vector<double>& values, const Series& series) {
  long double sum = 0;
  for (const double value : values) sum += value;
  const long double mean = sum / static_cast<long double>(values.size());
  long double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto std = static_cast<double>(std::sqrt(squares / static_cast<long double>(values.size())));
  CHECK(series.count() == values.size());
  CHECK(series.mean() == doctest::Approx(static_cast<double>(mean)).epsilon(1e-12));
  CHECK(series.std() == doctest::Approx(std).epsilon(1e-9));
  CHECK(series.min() == *std::min_element(values.begin(), values.end()));
  CHECK(series.max() == *std::max_element(values.begin(), values.end()));
}

constexpr double kQuantiles[] = {0, 0.001, 0.25, 0.5, 0.75, 0.9, 0.99, 0.9999, 1};

}  // namespace

TEST_CASE("an empty series has no values and does no harm") {
  const Series series;
  const Summary summary = series.summary();
  CHECK(summary.count == 0);
  CHECK(summary.mean == 0);
  CHECK(summary.max == 0);
}

TEST_CASE("one value is all of its statistics") {
  const Series series = series_of({7});
  const Summary s = series.summary();
  for (const double value : {s.mean, s.min, s.p25, s.p50, s.p99, s.max}) CHECK(value == 7);
  CHECK(s.std == 0);
}

TEST_CASE("numbers worked out by hand") {
  const Summary s = series_of({4, 50, 60, 100, 1180}).summary();
  CHECK(s.mean == doctest::Approx(278.8));
  CHECK(s.std == doctest::Approx(451.634543).epsilon(1e-8));  // √(1019868.8 / 5)
  CHECK(s.p25 == 50);
  CHECK(s.p50 == 60);
  CHECK(s.p75 == 100);
  CHECK(s.p90 == doctest::Approx(748));  // 100 + 0.6 · 1080
}

TEST_CASE("percentiles are exact up to the bound") {
  for (const std::size_t count : {2u, 3u, 1000u, 65536u}) {
    const auto values = log_normal(count, 1);
    const Series series = series_of(values);
    check_moments(values, series);
    for (const double q : kQuantiles)
      CHECK(series.quantile(q) == doctest::Approx(quantile(values, q)).epsilon(1e-12));
  }
}

TEST_CASE("percentiles are within half a percent beyond the bound, moments stay exact") {
  for (const double sigma : {0.01, 0.5, 3.0}) {
    const auto values = log_normal(200'000, sigma);
    const Series series = series_of(values);
    check_moments(values, series);
    for (const double q : kQuantiles) {
      const double expected = quantile(values, q);
      CHECK(std::abs(series.quantile(q) - expected) <= 0.005 * expected + 1);
    }
  }
}

TEST_CASE("small and negative values survive the histogram") {
  Series series;
  for (int i = 0; i < 100'000; ++i) series.add(i % 100 - 10);
  CHECK(series.min() == -10);
  CHECK(series.max() == 89);
  CHECK(series.mean() == doctest::Approx(39.5));
  CHECK(std::abs(series.quantile(0.5) - 39.5) <= 1);
}

TEST_CASE("dropping low outliers leaves the rest as it is") {
  const Series series = series_of({10, 100, 100, 102, 104});
  const Series rest = series.at_least(100 - 2 * (102 - 100));  // Q1 − 2·IQR
  CHECK(rest.count() == 4);
  CHECK(rest.min() == 100);
  CHECK(rest.mean() == doctest::Approx(101.5));
}

TEST_CASE("sums of absurd durations stay finite") {
  Series series;
  for (int i = 0; i < 2'000'000; ++i) {
    series.add(Series::kMost);
    series.add(0);
  }
  CHECK(series.mean() == doctest::Approx(Series::kMost / 2.0));
  CHECK(series.std() > 0);
}
