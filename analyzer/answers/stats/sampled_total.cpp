#include "answers/stats/sampled_total.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <vector>

namespace lotus::analyzer {
namespace {

// Calls whose mean is taken to be that of those that were measured.
struct Stratum {
  std::uint64_t calls = 0;
  MeasuredCalls measured;

  double unmeasured() const { return static_cast<double>(calls - measured.calls); }
  void add(const Stratum& other) {
    calls += other.calls;
    measured.add(other.measured);
  }
};

// What is measured wholly is added to `exact`.
std::vector<Stratum> strata_of(const CallsByDuration& calls, const MeasuredByDuration& measured,
                               MeasuredCalls& exact) {
  constexpr std::uint64_t kLeast = 2;  // else nothing is known of how they differ
  std::vector<Stratum> strata;
  Stratum open;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] <= measured[i].calls) {
      exact.add(measured[i]);
      continue;
    }
    open.add({calls[i], measured[i]});
    if (open.measured.calls < kLeast) continue;
    strata.push_back(open);
    open = {};
  }
  if (open.calls == 0) return strata;
  if (strata.empty())
    strata.push_back(open);
  else
    strata.back().add(open);
  return strata;
}

// The exact 95 % interval of a Poisson count's mean (Garwood, 1936).
Bounds poisson_interval(double count) {
  return {count > 0 ? boost::math::gamma_p_inv(count, kMissed / 2) : 0,
          boost::math::gamma_q_inv(count + 1, kMissed / 2)};
}

}  // namespace

std::optional<SampledTotal> total_of(const CallsByDuration& calls, const MeasuredByDuration& measured,
                                     const MeasuredCalls& apart) {
  MeasuredCalls exact = apart;
  const std::vector<Stratum> strata = strata_of(calls, measured, exact);
  MeasuredCalls seen;
  double rest = 0;  // of calls that were not measured
  double unmeasured = 0;
  double variance = 0;
  double freedom = 0;
  for (const Stratum& stratum : strata) {
    const auto n = static_cast<double>(stratum.measured.calls);
    if (n == 0) return std::nullopt;  // of these calls nothing is known
    const double mean = stratum.measured.sum / n;
    seen.add(stratum.measured);
    rest += stratum.unmeasured() * mean;
    unmeasured += stratum.unmeasured();
    freedom += n - 1;
    if (n < 2) continue;
    const double spread = std::max(0.0, (stratum.measured.squares - mean * stratum.measured.sum) / (n - 1));
    variance += static_cast<double>(stratum.calls) * stratum.unmeasured() * spread / n;
  }
  SampledTotal total{exact.sum + seen.sum + rest, std::nullopt, exact.calls + seen.calls};
  if (total.measured == 0) return std::nullopt;
  if (strata.empty()) {
    total.interval = {total.value, total.value};
  } else if (freedom > 0) {
    const double half = errors_for(1 - kMissed, freedom) * std::sqrt(variance);
    const Bounds seldom = poisson_interval(seen.sum);
    const double scale = unmeasured / static_cast<double>(seen.calls);
    const double least = exact.sum + seen.sum;
    total.interval = {std::max(least, total.value - std::max(half, scale * (seen.sum - seldom.low))),
                      total.value + std::max(half, scale * (seldom.high - seen.sum))};
  }
  return total;
}

}  // namespace lotus::analyzer
