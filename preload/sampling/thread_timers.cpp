#include "sampling/thread_timers.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "system/alternate_stack.hpp"

namespace lotus {
namespace {

constexpr std::size_t kMaxThreads = 512;

struct Armed {
  int tid;
  const SampleTimer* kind;
  std::uintptr_t timer;
  bool present;
};
constinit Armed armed[kMaxThreads] = {};
constinit std::size_t count = 0;
constinit std::size_t most = kMaxThreads;

constinit int refused_for = 0;

std::uint64_t pending_limit() {
  rlimit limit{};
  return getrlimit(RLIMIT_SIGPENDING, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

// Each timer takes one of the signals that all of a user's processes may have pending.
std::size_t most_timers() {
  const std::uint64_t share = pending_limit() / 8;
  return share < kMaxThreads ? static_cast<std::size_t>(share) : kMaxThreads;
}

void stop(std::size_t at) {
  armed[at].kind->stop(armed[at].timer);
  armed[at] = armed[--count];
}

void start(int tid, const SampleTimer& wanted, int signal, std::uint64_t period_ns) {
  if (!has_alternate_stack(static_cast<std::uint32_t>(tid))) return;
  if (count >= most) {
    if (most < kMaxThreads) refused_for = EAGAIN;
    return;
  }
  const SampleTimer* const kinds[] = {&wanted, &kCpuTimer};
  for (const SampleTimer* kind : kinds) {
    const std::uintptr_t timer = kind->start(tid, signal, period_ns);
    if (timer == 0) continue;
    armed[count++] = {tid, kind, timer, true};
    return;
  }
  if (errno != EINVAL && errno != ESRCH) refused_for = errno;  // else the thread has ended meanwhile
}

void cover(int tid, const SampleTimer& kind, int signal, std::uint64_t period_ns) {
  for (std::size_t i = 0; i < count; ++i) {
    if (armed[i].tid != tid) continue;
    if (armed[i].kind->runs(armed[i].timer)) {
      armed[i].present = true;
      return;
    }
    stop(i);
    break;
  }
  start(tid, kind, signal, period_ns);
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

void arm_threads(const SampleTimer& kind, int signal, std::uint64_t period_ns) {
  const int saved = errno;
  most = most_timers();
  // The system call itself: the interposed open counts the program's files.
  const auto tasks =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (tasks >= 0) {
    for (std::size_t i = 0; i < count; ++i) armed[i].present = false;
    alignas(Entry) char buffer[4096];
    for (long size; (size = syscall(SYS_getdents64, tasks, buffer, sizeof buffer)) > 0;) {
      for (long at = 0; at < size;) {
        const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
        if (const int tid = number(entry->name); tid > 0) cover(tid, kind, signal, period_ns);
        at += entry->bytes;
      }
    }
    close(tasks);
    for (std::size_t i = count; i-- > 0;)
      if (!armed[i].present) stop(i);
  }
  errno = saved;
}

void arm_thread(int tid, const SampleTimer& kind, int signal, std::uint64_t period_ns) {
  const int saved = errno;
  cover(tid, kind, signal, period_ns);
  errno = saved;
}

void disarm_threads() {
  while (count > 0) stop(count - 1);
}

void forget_timers() {
  count = 0;
  refused_for = 0;
}

TimersRefused timers_refused() { return {refused_for, pending_limit()}; }

}  // namespace lotus
