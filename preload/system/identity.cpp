#include "system/identity.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <lotus/segment.hpp>

#include "system/file_status.hpp"
#include "system/files.hpp"

namespace lotus {
namespace {

ProcessIdentity read_identity(const char* path) {
  char text[1024];
  ProcessIdentity identity;
  if (read_file(path, text, sizeof text) == 0) return identity;
  identity.pid = static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
  // The command name, field 2, may hold anything; the fields behind its last parenthesis do not.
  const char* at = std::strrchr(text, ')');
  for (int field = 3; at != nullptr && field <= 22; ++field) {
    at = std::strchr(at + 1, ' ');
    if (at == nullptr) break;
    if (field == 4) identity.parent = static_cast<std::uint32_t>(std::strtoul(at, nullptr, 10));
    if (field == 22) identity.start_time = std::strtoull(at, nullptr, 10);
  }
  return identity;
}

}  // namespace

// That of the main thread. An emulator (qemu-user) shows a process another start time in its own stat.
ProcessIdentity identify(std::uint32_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%u/task/%u/stat", pid, pid);
  return read_identity(path);
}

ProcessIdentity own_identity() {
  char pid[16] = "";
  if (readlink("/proc/self", pid, sizeof pid - 1) > 0)
    if (const ProcessIdentity identity = identify(static_cast<std::uint32_t>(std::strtoul(pid, nullptr, 10)));
        identity.start_time != 0)
      return identity;
  return {static_cast<std::uint32_t>(getpid()), static_cast<std::uint32_t>(getppid()), 0};
}

std::uint64_t pid_namespace() {
  struct stat status {};
  return file_status("/proc/self/ns/pid", status) ? status.st_ino : 0;
}

std::uint64_t container() {
  const std::uint64_t inode = pid_namespace();
  return inode != kInitialPidNamespace ? inode : 0;
}

}  // namespace lotus
