#include "life/wait_for_trace.hpp"

#include <time.h>
#include <unistd.h>

#include "life/autostart.hpp"
#include "life/session.hpp"
#include "record/process.hpp"
#include "sampling/sampler.hpp"
#include "system/clock.hpp"
#include "system/thread_id.hpp"
#include "system/uncancelled.hpp"

namespace lotus {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kLongest = 10 * kSecond;   // naming a large process's addresses takes a second or two
constexpr std::uint64_t kUntilSeen = 2 * kSecond;  // a collector that was started just now
constexpr timespec kPause = {0, 10'000'000};

// The namespace is unknown where /proc tells of another one. Where another thread ends the process, the main
// thread would go on meanwhile.
bool may_end_container(const SegmentHeader& header) {
  const bool container = header.pid_namespace != 0 && header.pid_namespace != kInitialPidNamespace;
  return is_main_thread() && (getpid() == 1 || (container && session.root));
}

}  // namespace

void wait_for_trace() {
  if (process.segment.header == nullptr || process.pid != getpid()) return;
  SegmentHeader& header = *process.segment.header;
  if (!may_end_container(header)) return;
  const Uncancelled uncancelled;
  process.off = true;
  stop_for_exec();
  __atomic_store_n(&header.finished, 1u, __ATOMIC_RELEASE);
  const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  const bool may_be_seen = was_started_just_now() || is_served();
  for (std::uint64_t waited = 0; waited < kLongest; waited = clock_ns(CLOCK_MONOTONIC) - begin) {
    const bool seen = __atomic_load_n(&header.reader_pid, __ATOMIC_RELAXED) != 0;
    if (seen ? !is_served() : !may_be_seen || waited >= kUntilSeen) return;
    if (access(process.segment.path, F_OK) != 0) return;
    nanosleep(&kPause, nullptr);
  }
}

}  // namespace lotus
