#include "life/serving.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <lotus/events.hpp>
#include <lotus/segment.hpp>

#include "system/files.hpp"

namespace lotus {

Serving serving(const char* directory) {
  char path[kPathBytes];
  std::snprintf(path, sizeof path, "%.1900s/%s", directory, kCollectorLock);
  const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return {};
  Serving found;
  found.held = flock(descriptor, LOCK_SH | LOCK_NB) != 0;
  char text[64] = "";
  if (found.held && pread(descriptor, text, sizeof text - 1, 0) > 0) {
    char* at = text;
    found.pid = static_cast<std::uint32_t>(std::strtoul(at, &at, 10));
    if (*at == ' ') {
      const std::uint64_t version = std::strtoull(at, &at, 10);
      const std::uint64_t schema = std::strtoull(at, &at, 16);
      found.reads_our_segments = version == kSegmentVersion && schema == kSchemaHash;
    }
  }
  close(descriptor);
  return found;
}

}  // namespace lotus
