#include "record/process.hpp"

#include <unistd.h>

#include "system/clock.hpp"
#include "system/hot.hpp"

namespace lotus {

LOTUS_HOT constinit Process process{};
constinit Lifecycle lifecycle{};

Made open_segment(const SegmentOwner& owner, char* reason) {
  constexpr std::uint64_t kFlushAfterSeconds = 1;
  const Made made = make_segment(process.segment, owner, reason);
  if (made != Made::yes) return made;
  process.pid = getpid();
  process.next_stream = 1;
  process.flush_after_ticks = ticks_per_second() * kFlushAfterSeconds;
  return made;
}

}  // namespace lotus
