#include "system/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "system/files.hpp"

namespace lotus {
namespace {

constexpr std::uint64_t kNoLimit = UINT64_MAX;
constexpr std::size_t kGroupPathBytes = 1024;

// Cores of `quota` in `period`, both in µs as text; no number ("max", -1), no limit.
std::uint64_t cores_of(const char* quota, const char* period) {
  const long granted = std::strtol(quota, nullptr, 10);
  const long each = std::strtol(period, nullptr, 10);
  if (granted <= 0 || each <= 0) return kNoLimit;
  return static_cast<std::uint64_t>((granted + each - 1) / each);
}

// Of one group of the unified hierarchy: "QUOTA PERIOD".
std::uint64_t limit_of_unified(const char* group) {
  char path[kGroupPathBytes + 32];
  char text[64];
  std::snprintf(path, sizeof path, "%s/cpu.max", group);
  if (read_file(path, text, sizeof text) == 0) return kNoLimit;
  const char* period = std::strchr(text, ' ');
  return period == nullptr ? kNoLimit : cores_of(text, period);
}

// Of one group of the cpu controller of version 1.
std::uint64_t limit_of_controller(const char* group) {
  char path[kGroupPathBytes + 32];
  char quota[32];
  char period[32];
  std::snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", group);
  if (read_file(path, quota, sizeof quota) == 0) return kNoLimit;
  std::snprintf(path, sizeof path, "%s/cpu.cfs_period_us", group);
  return read_file(path, period, sizeof period) == 0 ? kNoLimit : cores_of(quota, period);
}

// The least of a group's own limit and those around it. A container may see its own group as the root while
// it is told another path: what is not there limits nothing.
std::uint64_t least_limit(const char* mount, const char* group,
                          std::uint64_t (*limit_of)(const char* group)) {
  char path[kGroupPathBytes];
  const int length = std::snprintf(path, sizeof path, "%s%s", mount, group);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return kNoLimit;
  std::uint64_t least = kNoLimit;
  for (;;) {
    least = std::min(least, limit_of(path));
    char* const last = std::strrchr(path, '/');
    if (last == nullptr || last < path + std::strlen(mount)) return least;
    *last = '\0';
  }
}

// Whether "cpu" is one of the controllers, which commas part.
bool has_cpu(const char* controllers) {
  for (const char* at = controllers; at != nullptr; at = std::strchr(at, ',')) {
    at += *at == ',' ? 1 : 0;
    if (std::strncmp(at, "cpu", 3) == 0 && (at[3] == ',' || at[3] == '\0')) return true;
  }
  return false;
}

// Of a line of /proc/self/cgroup: NUMBER:CONTROLLERS:GROUP.
std::uint64_t limit_of_line(char* line) {
  char* const controllers = std::strchr(line, ':');
  char* const group = controllers != nullptr ? std::strchr(controllers + 1, ':') : nullptr;
  if (group == nullptr) return kNoLimit;
  *group = '\0';
  if (controllers[1] == '\0') return least_limit("/sys/fs/cgroup", group + 1, limit_of_unified);
  if (!has_cpu(controllers + 1)) return kNoLimit;
  char mount[256];
  std::snprintf(mount, sizeof mount, "/sys/fs/cgroup/%s", controllers + 1);
  const std::uint64_t least = least_limit(mount, group + 1, limit_of_controller);
  if (std::strcmp(controllers + 1, "cpu") == 0) return least;
  return std::min(least, least_limit("/sys/fs/cgroup/cpu", group + 1, limit_of_controller));
}

std::uint64_t cores_of_groups() {
  char groups[4096];
  read_file("/proc/self/cgroup", groups, sizeof groups);
  std::uint64_t least = kNoLimit;
  char* rest = nullptr;
  for (char* line = strtok_r(groups, "\n", &rest); line != nullptr; line = strtok_r(nullptr, "\n", &rest))
    least = std::min(least, limit_of_line(line));
  return least;
}

}  // namespace

std::uint64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
  const std::uint64_t least =
      std::min(known ? static_cast<std::uint64_t>(CPU_COUNT(&set)) : kNoLimit, cores_of_groups());
  return least == kNoLimit ? 0 : least;
}

}  // namespace lotus
