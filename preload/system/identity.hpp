// Processes as the kernel tells them apart: pids are reused, and differ from namespace to namespace.
#pragma once

#include <cstdint>

namespace lotus {

struct ProcessIdentity {
  std::uint32_t pid = 0;
  std::uint32_t parent = 0;
  std::uint64_t start_time = 0;  // 0: no such process
};
// From /proc/<pid>/task/<pid>/stat.
ProcessIdentity identify(std::uint32_t pid);

// This process as /proc names it, as the collector will see it: after unshare(CLONE_NEWPID) that is another
// pid than getpid() says. Without /proc, what the kernel says.
ProcessIdentity own_identity();

// The inode of this process's pid namespace; 0: unknown.
std::uint64_t pid_namespace();

// The same in a container; 0 outside. See kInitialPidNamespace.
std::uint64_t container();

}  // namespace lotus
