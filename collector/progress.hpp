// The line that a terminal shows while a collector serves.
#pragma once

#include <cstdint>
#include <string>

namespace lotus::collector {

struct Activity {
  std::uint64_t sessions = 0, processes = 0;
  std::uint64_t events = 0, bytes = 0, lost = 0;  // of the sessions that are open
};

class Progress {
 public:
  // True each half second.
  bool due(std::uint64_t now_ns) const;
  // The line for `activity`, with the rate of events since the line before.
  std::string line(const Activity& activity, std::uint64_t now_ns);

 private:
  std::uint64_t last_ns_ = 0;
  std::uint64_t last_events_ = 0;
};

}  // namespace lotus::collector
