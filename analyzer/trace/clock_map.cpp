#include "trace/clock_map.hpp"

namespace lotus::analyzer {
namespace {

// A pair is good to about a microsecond: closer pairs than this would give a rate worse than 0.1 %.
constexpr std::uint64_t kShortestBaselineNs = 1'000'000;
constexpr double kGuessedTscGhz = 2.5;

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
}

void ClockMap::settle() {
  base_ns_ = static_cast<std::int64_t>(earliest_.realtime_ns);
  calibrated_ = source_ == ClockSource::monotonic;
  const bool forward = latest_.realtime_ns > earliest_.realtime_ns && latest_.ticks > earliest_.ticks;
  if (!forward || latest_.realtime_ns - earliest_.realtime_ns < kShortestBaselineNs) return;
  const double rate = static_cast<double>(latest_.realtime_ns - earliest_.realtime_ns) /
                      static_cast<double>(latest_.ticks - earliest_.ticks);
  // A stepped realtime clock, or a damaged pair: no clock runs at a hundredth or a hundred times its rate.
  if (rate < nominal_ns_ / 100 || rate > nominal_ns_ * 100) return;
  ns_per_tick_ = rate;
  baseline_ns_ = static_cast<std::int64_t>(latest_.realtime_ns - earliest_.realtime_ns);
  calibrated_ = true;
}

}  // namespace lotus::analyzer
