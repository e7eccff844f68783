#include "progress.hpp"

#include <fmt/format.h>

#include "clock.hpp"
#include "text.hpp"

namespace lotus::collector {
namespace {
constexpr std::uint64_t kInterval = 500 * kMillisecond;
}

bool Progress::due(std::uint64_t now_ns) const { return now_ns - last_ns_ >= kInterval; }

std::string Progress::line(const Activity& activity, std::uint64_t now_ns) {
  const double seconds = static_cast<double>(now_ns - last_ns_) / kSecond;
  // Events go down when a session ends.
  const std::uint64_t fresh = activity.events > last_events_ ? activity.events - last_events_ : 0;
  const double rate = last_ns_ == 0 ? 0 : static_cast<double>(fresh) / seconds;
  last_ns_ = now_ns;
  last_events_ = activity.events;
  if (activity.sessions == 0) return "waiting for traced programs";
  return fmt::format(
      "{}, {}, {:.0f} events/s, {} written, {} lost", counted(activity.sessions, "program", "programs"),
      counted(activity.processes, "process", "processes"), rate, human_bytes(activity.bytes), activity.lost);
}

}  // namespace lotus::collector
