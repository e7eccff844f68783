#include "reading/trace/clock_map.hpp"

#include <cmath>

namespace lotus::analyzer {
namespace {

// A pair is accurate to about a microsecond: the rate from closer pairs than this would be off by over 0.1 %.
constexpr std::uint64_t kShortestBaselineNs = 1'000'000;
constexpr double kGuessedTscGhz = 2.5;
// A clock that is only slewed stays within this of its rate.
constexpr double kLargestSlew = 1e-3;

}  // namespace

ClockMap::ClockMap(ClockSource source, std::uint32_t tick_shift) : source_(source) {
  const auto units = static_cast<double>(std::uint64_t{1} << tick_shift);
  nominal_ns_ = source == ClockSource::monotonic ? units : units / kGuessedTscGhz;
  ns_per_tick_ = nominal_ns_;
}

void ClockMap::add(const ClockPair& pair) {
  if (pair.ticks == 0 || pair.realtime_ns == 0 || pair.realtime_ns > INT64_MAX / 2) return;
  if (!any_ || pair.ticks < earliest_.ticks) earliest_ = pair;
  if (!any_ || pair.ticks > latest_.ticks) latest_ = pair;
  any_ = true;
  pairs_.push_back(pair);
}

// The median rate of the intervals between neighbouring pairs, weighted by their lengths. A step of the clock
// affects one interval only. 0: no interval is long enough.
double ClockMap::usual_rate() {
  struct Stretch {
    double rate, ticks;
  };
  std::sort(pairs_.begin(), pairs_.end(),
            [](const ClockPair& a, const ClockPair& b) { return a.ticks < b.ticks; });
  std::vector<Stretch> intervals;
  double whole = 0;
  for (std::size_t i = 0, j = 1; j < pairs_.size(); ++j) {
    const auto ticks = static_cast<double>(pairs_[j].ticks - pairs_[i].ticks);
    if (ticks * nominal_ns_ < static_cast<double>(kShortestBaselineNs)) continue;
    const auto ns =
        static_cast<double>(static_cast<std::int64_t>(pairs_[j].realtime_ns - pairs_[i].realtime_ns));
    intervals.push_back({ns / ticks, ticks});
    whole += ticks;
    i = j;
  }
  std::sort(intervals.begin(), intervals.end(),
            [](const Stretch& a, const Stretch& b) { return a.rate < b.rate; });
  double below = 0;
  for (const Stretch& interval : intervals)
    if ((below += interval.ticks) * 2 >= whole) return interval.rate;
  return 0;
}

void ClockMap::settle() {
  base_ns_ = static_cast<std::int64_t>(earliest_.realtime_ns);
  calibrated_ = source_ == ClockSource::monotonic;
  if (latest_.ticks <= earliest_.ticks) return;
  const auto ticks = static_cast<double>(latest_.ticks - earliest_.ticks);
  const auto ns = static_cast<double>(static_cast<std::int64_t>(latest_.realtime_ns - earliest_.realtime_ns));
  const double usual = usual_rate();
  pairs_ = {};
  const bool stepped = usual > 0 && std::abs(ns / ticks / usual - 1) > kLargestSlew;
  const double rate = stepped ? usual : ns / ticks;
  if (rate * ticks < static_cast<double>(kShortestBaselineNs)) return;
  // A stepped realtime clock, or a damaged pair: no clock runs at a hundredth or a hundred times its rate.
  if (rate < nominal_ns_ / 100 || rate > nominal_ns_ * 100) return;
  ns_per_tick_ = rate;
  baseline_ns_ = static_cast<std::int64_t>(rate * ticks);
  calibrated_ = true;
}

}  // namespace lotus::analyzer
