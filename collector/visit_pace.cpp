#include "visit_pace.hpp"

#include <utility>

namespace lotus::collector {
namespace {

// A ring is visited again when it is expected to be this full: seldom, because each visit starts with cold
// caches, but with room for a growing rate of events.
constexpr double kFullEnough = 1.0 / 4;
constexpr std::uint64_t kShortestPause = kMillisecond;
// A process defines code when it runs it first: soon after its start, a burst of definitions goes into a
// small ring. A time without definitions is expected to go on for as long again: the pauses after a burst
// double.
constexpr std::uint64_t kBurstPause = 5 * kMillisecond;
constexpr std::uint64_t kSettled = 2 * kSecond;
// Rates of this long ago still count, since phases repeat, as training steps do. Rates over less than kMoment
// say little about the future.
constexpr double kRemembered = 2 * static_cast<double>(kSecond);
constexpr double kMoment = 20 * static_cast<double>(kMillisecond);

}  // namespace

std::uint64_t VisitPace::pause_after(const Filling& filling, std::uint64_t elapsed_ns) {
  const auto elapsed = static_cast<double>(std::max<std::uint64_t>(elapsed_ns, 1));
  const double kept = std::max(0.0, 1 - elapsed / kRemembered);
  fastest_ = std::max(filling.grown / std::max(elapsed, kMoment), fastest_ * kept);
  const double now = std::max(filling.grown, filling.definitions) / elapsed;
  const double expected = std::max(now, fastest_);
  const double room = std::max(0.0, kFullEnough - filling.left);
  const bool unsettled = std::exchange(begun_, false) || filling.definitions > 0;
  settled_ns_ = unsettled ? 0 : settled_ns_ + elapsed_ns;
  const std::uint64_t longest = std::clamp(settled_ns_, kBurstPause, kLongestPause);
  const bool slow = room >= expected * static_cast<double>(longest);
  calm_ = slow && settled_ns_ >= kSettled;
  if (slow) return longest;
  return std::max(kShortestPause, static_cast<std::uint64_t>(room / expected));
}

}  // namespace lotus::collector
