// Is a traced process still there?
#pragma once

#include <cstdint>
#include <optional>

#include "fd.hpp"

namespace lotus::collector {

// Start time of `pid` (/proc/<pid>/stat, field 22: clock ticks since boot); empty if there is no such
// process or it has ended and only waits for its parent.
std::optional<std::uint64_t> process_start_time(std::uint32_t pid);

// One process, named by pid and start time so that a reused pid is not mistaken for it. A stopped
// process is alive.
class ProcessWatch {
 public:
  ProcessWatch(std::uint32_t pid, std::uint64_t start_time);

  bool alive();
  // A descriptor that polls readable when the process has ended; negative where the kernel has none.
  int fd() const { return pidfd_.get(); }

 private:
  std::uint32_t pid_;
  std::uint64_t start_time_;
  Fd pidfd_;
  bool ended_ = false;
};

}  // namespace lotus::collector
