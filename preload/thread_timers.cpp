#include "thread_timers.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace lotus {
namespace {

constexpr std::size_t kMaxThreads = 512;

struct Timer {
  int tid;
  int id;  // the kernel's
  bool present;
};
constinit Timer timers[kMaxThreads] = {};
constinit std::size_t count = 0;

// The CPU clock of any thread of this process (the kernel's encoding, as in pthread_getcpuclockid).
clockid_t cpu_clock(int tid) { return static_cast<clockid_t>((~static_cast<unsigned>(tid) << 3) | 6u); }

void stop(std::size_t at) {
  syscall(SYS_timer_delete, timers[at].id);
  timers[at] = timers[--count];
}

// A timer of a thread that ended shows no time to its next expiration; a new thread may have its number.
bool still_runs(const Timer& timer) {
  itimerspec left{};
  return syscall(SYS_timer_gettime, timer.id, &left) == 0 &&
         (left.it_value.tv_sec != 0 || left.it_value.tv_nsec != 0);
}

void start(int tid, int signal, std::uint64_t period_ns) {
  if (count == kMaxThreads) return;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event.sigev_value.sival_ptr = timers;  // tells our signals from others
  event._sigev_un._tid = tid;
  int id = -1;
  if (syscall(SYS_timer_create, cpu_clock(tid), &event, &id) != 0) return;
  itimerspec every{};
  every.it_interval = {static_cast<time_t>(period_ns / 1'000'000'000),
                       static_cast<long>(period_ns % 1'000'000'000)};
  every.it_value = every.it_interval;
  if (syscall(SYS_timer_settime, id, 0, &every, nullptr) != 0) {
    syscall(SYS_timer_delete, id);
    return;
  }
  timers[count++] = {tid, id, true};
}

void cover(int tid, int signal, std::uint64_t period_ns) {
  for (std::size_t i = 0; i < count; ++i) {
    if (timers[i].tid != tid) continue;
    if (still_runs(timers[i])) {
      timers[i].present = true;
      return;
    }
    stop(i);
    break;
  }
  start(tid, signal, period_ns);
}

struct Entry {  // linux_dirent64
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[1];
};

int number(const char* text) {
  int value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + (*text - '0');
  return *text == '\0' ? value : 0;
}

}  // namespace

void arm_threads(int signal, std::uint64_t period_ns) {
  const int saved = errno;
  const int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks >= 0) {
    for (std::size_t i = 0; i < count; ++i) timers[i].present = false;
    alignas(Entry) char buffer[4096];
    for (long size; (size = syscall(SYS_getdents64, tasks, buffer, sizeof buffer)) > 0;) {
      for (long at = 0; at < size;) {
        const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
        if (const int tid = number(entry->name); tid > 0) cover(tid, signal, period_ns);
        at += entry->bytes;
      }
    }
    close(tasks);
    for (std::size_t i = count; i-- > 0;)
      if (!timers[i].present) stop(i);
  }
  errno = saved;
}

bool is_of_timers(const siginfo_t& info) {
  return info.si_code == SI_TIMER && info.si_value.sival_ptr == timers;
}

void disarm_threads() {
  while (count > 0) stop(count - 1);
}

void forget_timers() { count = 0; }

}  // namespace lotus
