#include "stats/interval.hpp"

#include <algorithm>
#include <cmath>

namespace lotus::analyzer {
namespace {

constexpr double kMissed = 0.05;

// lgamma() that touches no global variable.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

// The continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMostTerms = 10'000;
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double factor = 1;
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      factor = d * c;
      result *= factor;
    }
    if (std::abs(factor - 1) < 1e-12) break;
  }
  return result;
}

// The distribution function of Beta(a, b).
double beta_cdf(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double beta_quantile(double a, double b, double probability) {
  double low = 0;
  double high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (beta_cdf(a, b, middle) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

Bounds exact_interval(double share, double n) {
  if (n <= 0) return {0, 1};
  const double hits = std::clamp(share, 0.0, 1.0) * n;
  const double misses = n - hits;
  return {hits <= 0 ? 0 : beta_quantile(hits, misses + 1, kMissed / 2),
          misses <= 0 ? 1 : beta_quantile(hits + 1, misses, 1 - kMissed / 2)};
}

double smallest_seen(double n) { return n <= 0 ? 1 : -std::expm1(std::log(kMissed) / n); }

double samples_to_see(double share) { return std::log(kMissed) / std::log1p(-share); }

}  // namespace lotus::analyzer
