#include "answers/stats/interval.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>

namespace lotus::analyzer {
Bounds exact_interval(double share, double n) {
  if (n <= 0) return {0, 1};
  const double hits = std::clamp(share, 0.0, 1.0) * n;
  const double misses = n - hits;
  return {hits <= 0 ? 0 : boost::math::ibeta_inv(hits, misses + 1, kMissed / 2),
          misses <= 0 ? 1 : boost::math::ibeta_inv(hits + 1, misses, 1 - kMissed / 2)};
}

double smallest_seen(double n) { return n <= 0 ? 1 : -std::expm1(std::log(kMissed) / n); }

double samples_to_see(double share) { return std::log(kMissed) / std::log1p(-share); }

double runs_to_see(double span, double interval, double confidence) {
  if (span >= interval) return 1;
  if (span <= 0) return std::numeric_limits<double>::infinity();
  return std::ceil(std::log1p(-confidence) / std::log1p(-span / interval));
}

double errors_for(double probability, double freedom) {
  if (!std::isfinite(freedom)) return std::sqrt(2.0) * boost::math::erf_inv(probability);
  const boost::math::students_t student(std::max(1.0, freedom));
  return boost::math::quantile(boost::math::complement(student, (1 - probability) / 2));
}

}  // namespace lotus::analyzer
