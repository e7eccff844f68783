// The status that a serving collector publishes: lines in its lock file, behind its pid.
//
//   served NOW_NS ENDED                             CLOCK_MONOTONIC; traces that were closed so far
//   session PID EVENTS RATE BYTES LOST SALVAGED DAMAGED PROCESSES STUCK_S PATH
//   process PID LOST FILL_PERCENT DEAD              of the session before it
//   closed EVENTS LOST PATH                         the last few
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lotus::collector {

struct ProcessStatus {
  std::uint32_t pid = 0;
  std::uint64_t lost = 0;     // events, so far
  unsigned fill_percent = 0;  // of its event ring
  bool dead = false;          // its data could not be written yet
};

struct SessionStatus {
  std::uint32_t pid = 0;     // of the process whose trace it is
  std::uint64_t events = 0;  // in the trace
  std::uint64_t events_a_second = 0;
  std::uint64_t bytes = 0;          // of the trace
  std::uint64_t lost = 0;           // events
  std::uint64_t salvaged = 0;       // events, from open chunks of processes that ended
  std::uint64_t damaged = 0;        // records in shared memory that were unusable
  std::uint64_t process_count = 0;  // that were ever part of it
  std::uint64_t stuck_s = 0;        // for how long the trace could not be written; 0: it can
  std::string path;
  std::vector<ProcessStatus> processes;  // not yet ended
};

struct ClosedStatus {
  std::uint64_t events = 0, lost = 0;
  std::string path;
};

struct Status {
  std::uint64_t now_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t ended = 0;   // traces that were closed
  std::vector<SessionStatus> sessions;
  std::deque<ClosedStatus> closed;  // the last few of them
};

std::string to_lines(const Status& status);
// Empty if the lines are of another version.
std::optional<Status> from_lines(std::string_view lines);

}  // namespace lotus::collector
