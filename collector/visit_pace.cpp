#include "visit_pace.hpp"

#include <utility>

namespace lotus::collector {
namespace {

// A ring is visited again when it is expected to be this full: seldom, because a visit finds the caches cold,
// but with room for what comes faster than before.
constexpr double kFullEnough = 1.0 / 4;
constexpr std::uint64_t kShortestPause = kMillisecond;
// A process defines what it runs when it runs it first: many at once, into a small ring, soon after its
// begin. For as long as none came, it is expected that none comes: the pauses after a burst double.
constexpr std::uint64_t kBurstPause = 5 * kMillisecond;
constexpr std::uint64_t kSettled = 2 * kSecond;
// What computes in turns, as a training step on all cores, is expected to do so again. What came within a
// moment says little of how it goes on.
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
