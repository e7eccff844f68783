// The event is kept by the mapping of its first page; its descriptor is closed at once, since programs close
// and count descriptors. A forked child does not inherit the mapping.
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampling/sample_timer.hpp"

namespace lotus {
namespace {

constexpr std::size_t kPage = 4096;

int open_event(int tid, std::uint64_t period_ns) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = period_ns;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

bool send_to(int event, int tid, int signal) {
  const f_owner_ex owner{F_OWNER_TID, tid};
  return fcntl(event, F_SETOWN_EX, &owner) == 0 && fcntl(event, F_SETSIG, signal) == 0 &&
         fcntl(event, F_SETFL, O_RDWR | O_ASYNC) == 0;
}

std::uintptr_t start(int tid, int signal, std::uint64_t period_ns) {
  const int event = open_event(tid, period_ns);
  if (event < 0) return 0;
  // The system call itself: the interposed mmap counts the program's files.
  const long page =
      send_to(event, tid, signal) ? syscall(SYS_mmap, nullptr, kPage, PROT_READ, MAP_SHARED, event, 0) : -1;
  const bool runs = page > 0 && ioctl(event, PERF_EVENT_IOC_ENABLE, 0) == 0;
  if (page > 0 && !runs) munmap(reinterpret_cast<void*>(page), kPage);
  close(event);
  return runs ? static_cast<std::uintptr_t>(page) : 0;
}

void stop(std::uintptr_t timer) { munmap(reinterpret_cast<void*>(timer), kPage); }

// Cannot be told. A thread that gets the number of one that ended since the last look is not sampled: numbers
// come again after 32,768 threads at least.
bool runs(std::uintptr_t) { return true; }

// Nobody but the kernel can send a code above 0.
bool sent(const siginfo_t& info) { return info.si_code == POLL_IN; }

// The thread's CPU time at its last signal; 0 before the first. Of another thread in a forked child.
constinit thread_local std::uint64_t last_ns = 0;

std::uint32_t periods(const siginfo_t&, std::uint64_t period_ns) {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  const std::uint64_t now =
      static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
  if (last_ns == 0 || now < last_ns) {
    last_ns = now;
    return 1;
  }
  const std::uint64_t passed = (now - last_ns + period_ns / 2) / period_ns;
  last_ns += passed * period_ns;  // the rest counts for the next
  return passed > 0 ? static_cast<std::uint32_t>(passed) : 1;
}

}  // namespace

constinit const SampleTimer kPerfTimer{start, stop, runs, sent, periods};

bool perf_timer_is_permitted() {
  const int event = open_event(0, 1'000'000'000);
  if (event >= 0) close(event);
  return event >= 0;
}

}  // namespace lotus
