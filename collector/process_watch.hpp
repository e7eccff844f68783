// Whether a traced process still runs.
#pragma once

#include <cstdint>
#include <optional>

#include "fd.hpp"

namespace lotus::collector {

// Start time of `pid` (/proc/<pid>/stat, field 22: clock ticks since boot); empty if there is no such
// process, it has ended and only waits for its parent, or it cannot be read for now.
std::optional<std::uint64_t> process_start_time(std::uint32_t pid);

enum class Presence : std::uint8_t {
  there,
  ended,
  unknown,  // cannot be determined now: out of descriptors or memory
};
Presence presence_of(std::uint32_t pid, std::uint64_t start_time);

// One process, named by pid and start time so that a reused pid is not mistaken for it. A stopped
// process counts as alive, and so does one whose state is unknown, since its records would be lost otherwise.
class ProcessWatch {
 public:
  ProcessWatch(std::uint32_t pid, std::uint64_t start_time);

  bool alive();
  // It is stopped by a signal (SIGSTOP, SIGTSTP).
  bool stopped() const;
  // A descriptor that polls readable when the process has ended; negative where the kernel has none.
  int fd() const { return pidfd_.get(); }

 private:
  std::uint32_t pid_;
  std::uint64_t start_time_;
  Fd pidfd_;
  bool ended_ = false;
};

}  // namespace lotus::collector
