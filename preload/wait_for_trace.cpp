#include "wait_for_trace.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "clock.hpp"
#include "config.hpp"
#include "recorder.hpp"
#include "sampler.hpp"
#include "session.hpp"

namespace lotus {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kLongest = 10 * kSecond;   // naming a large process's addresses takes a second or two
constexpr std::uint64_t kUntilSeen = 2 * kSecond;  // a collector that was started just now
constexpr timespec kPause = {0, 10'000'000};

bool is_served(const SegmentHeader& header, std::uint64_t waited_ns) {
  const auto reader = static_cast<pid_t>(__atomic_load_n(&header.reader_pid, __ATOMIC_RELAXED));
  if (reader > 0) return kill(reader, 0) == 0;
  return config.autostart && waited_ns < kUntilSeen;
}

// The namespace is unknown where /proc tells of another one.
bool ends_container(const SegmentHeader& header) {
  const bool container = header.pid_namespace != 0 && header.pid_namespace != kInitialPidNamespace;
  return getpid() == 1 || (container && session.first);
}

}  // namespace

void wait_for_trace() {
  if (process.segment.header == nullptr || process.pid != getpid()) return;
  SegmentHeader& header = *process.segment.header;
  if (!ends_container(header)) return;
  process.off = true;
  stop_for_exec();
  __atomic_store_n(&header.finished, 1u, __ATOMIC_RELEASE);
  const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  for (std::uint64_t waited = 0; waited < kLongest; waited = clock_ns(CLOCK_MONOTONIC) - begin) {
    if (access(process.segment.path, F_OK) != 0 || !is_served(header, waited)) return;
    nanosleep(&kPause, nullptr);
  }
}

}  // namespace lotus
