#include "answers/stats/difference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "answers/stats/interval.hpp"

namespace lotus::analyzer {
namespace {

// Degrees of freedom of the error of a difference (Welch and Satterthwaite). Infinite if the errors are known
// exactly, or not at all.
double freedom_of(const Estimate& a, const Estimate& b) {
  const auto part = [](const Estimate& e) { return std::pow(e.error, 4) / e.freedom; };
  const double parts = part(a) + part(b);
  const double whole = std::pow(a.error * a.error + b.error * b.error, 2);
  return parts > 0 && std::isfinite(whole) ? whole / parts : std::numeric_limits<double>::infinity();
}

}  // namespace

void judge(Difference& change, double probability) {
  const double difference = change.after.mean - change.before.mean;
  const double errors = errors_for(probability, freedom_of(change.before, change.after));
  const double reach = errors * std::hypot(change.before.error, change.after.error);
  change.low = difference - reach;
  // What is counted cannot fall below 0.
  if (std::isfinite(change.low)) change.low = std::max(change.low, 0.0 - change.before.mean);
  change.high = difference + reach;
  change.certain = change.low > 0 || change.high < 0;
}

}  // namespace lotus::analyzer
