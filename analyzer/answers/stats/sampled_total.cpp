#include "answers/stats/sampled_total.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <vector>

namespace lotus::analyzer {
namespace {

constexpr std::uint64_t kLeast = 2;  // measured calls, else nothing is known of how they differ
// Calls that take so many times as long are not like the others; of all calls' time, what may pass
// unmeasured.
constexpr double kFar = 4, kLittle = 0.25;

// Calls whose mean is taken to be that of those that were measured.
struct Stratum {
  std::uint64_t calls = 0;
  MeasuredCalls measured;
  double ns = 0;  // that all calls took, about

  double unmeasured() const { return static_cast<double>(calls - measured.calls); }
  double each() const { return ns / static_cast<double>(calls); }
  bool is_known() const { return measured.calls >= kLeast; }
  void add(const Stratum& other) {
    calls += other.calls;
    measured.add(other.measured);
    ns += other.ns;
  }
};

struct Strata {
  std::vector<Stratum> known;
  // Too few of them were measured, and none that were are like them: in order of duration, as the others.
  std::vector<Stratum> odd;
  MeasuredCalls exact;  // what was measured wholly
  double ns = 0;        // of all calls
};

Strata strata_of(const CallsByDuration& calls, const MeasuredByDuration& measured) {
  Strata strata;
  Stratum open;
  const auto close = [&] {
    if (open.calls > 0) (open.is_known() ? strata.known : strata.odd).push_back(open);
    open = {};
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const double each = std::exp2(static_cast<double>(i) / 2);
    const Stratum one{calls[i], measured[i], static_cast<double>(calls[i]) * each};
    strata.ns += one.ns;
    if (calls[i] <= measured[i].calls) {
      strata.exact.add(measured[i]);
      continue;
    }
    if (open.calls > 0 && each > kFar * open.each()) close();
    open.add(one);
    if (open.is_known()) close();
  }
  close();
  return strata;
}

// Puts calls with others that are like them, or so much longer that they are few; false: of much of the time
// nothing is known.
bool place(const Stratum& odd, Strata& strata, double& rest) {
  Stratum* nearest = nullptr;
  for (Stratum& one : strata.known)
    if (nearest == nullptr || one.each() <= kFar * odd.each()) nearest = &one;
  const bool is_like =
      nearest != nullptr && nearest->each() <= kFar * odd.each() && odd.each() <= kFar * nearest->each();
  const bool is_little = odd.ns <= kLittle * strata.ns;
  if (odd.measured.calls > 0 && !is_like && !is_little) {
    strata.known.push_back(odd);
    return true;
  }
  if (nearest == nullptr || (!is_like && !is_little)) return false;
  if (nearest->each() <= kFar * odd.each()) {
    nearest->add(odd);
    return true;
  }
  // Far shorter ones than any that was measured: as much by time.
  strata.exact.add(odd.measured);
  rest += odd.unmeasured() * nearest->measured.sum / static_cast<double>(nearest->measured.calls) *
          odd.each() / nearest->each();
  return true;
}

// The exact 95 % interval of a Poisson count's mean (Garwood, 1936).
Bounds poisson_interval(double count) {
  return {count > 0 ? boost::math::gamma_p_inv(count, kMissed / 2) : 0,
          boost::math::gamma_q_inv(count + 1, kMissed / 2)};
}

}  // namespace

std::optional<SampledTotal> total_of(const CallsByDuration& calls, const MeasuredByDuration& measured,
                                     const MeasuredCalls& apart) {
  Strata strata = strata_of(calls, measured);
  double rest = 0;  // of calls that were not measured
  const bool alone = strata.known.empty() && strata.odd.size() == 1;
  if (alone) strata.known.swap(strata.odd);
  for (const Stratum& odd : strata.odd)
    if (!place(odd, strata, rest)) return std::nullopt;
  MeasuredCalls exact = apart;
  exact.add(strata.exact);
  MeasuredCalls seen;
  double unmeasured = 0;
  double variance = 0;
  double freedom = 0;
  for (const Stratum& stratum : strata.known) {
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
  if (strata.known.empty()) {
    total.interval = {total.value, total.value};
  } else if (std::all_of(strata.known.begin(), strata.known.end(),
                         [](const Stratum& stratum) { return stratum.is_known(); })) {
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
