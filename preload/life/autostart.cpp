#include "life/autostart.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <lotus/segment.hpp>

#include "life/config.hpp"
#include "life/output_file.hpp"
#include "life/serving.hpp"
#include "life/session.hpp"
#include "record/process.hpp"
#include "system/clock.hpp"
#include "system/file_status.hpp"
#include "system/identity.hpp"
#include "system/loaded.hpp"
#include "system/log.hpp"
#include "system/signal_actions.hpp"
#include "system/signal_mask.hpp"

extern char** environ;

namespace lotus {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr std::size_t kMaxEnvironment = 4096;
constexpr std::uint64_t kUntilItReads = 3'000'000'000;  // ns

constexpr int kHelperPatience = 3000;  // ms

// Everything the children need, made before they exist: they share our memory and may not allocate.
struct Launch {
  char program[kPathBytes];
  char* arguments[6];
  char* environment[kMaxEnvironment];
  alignas(16) char outer_stack[kStackBytes];
  alignas(16) char inner_stack[kStackBytes];
  int answer;  // descriptor that the helper writes to
  bool executed;
};
constinit Launch launch{};
constinit char library[PATH_MAX] = {};
constinit std::uint64_t started_ns = 0;  // when a collector was started that is still to be looked for

// After unshare(CLONE_NEWPID) the next child is the first process of a new namespace, and when it ends,
// nothing can be started there any more: that child must be one of the program. And a collector that lives in
// such a namespace dies with its first process; where /proc is still that of the old one, it can be told.
bool leaves_namespace() {
  struct stat own {};
  struct stat next {};
  if (!file_status("/proc/self/ns/pid", own)) return false;  // no /proc: nothing is known
  if (own_identity().pid != static_cast<std::uint32_t>(getpid())) return true;
  return !file_status("/proc/self/ns/pid_for_children", next) || own.st_ino != next.st_ino;
}

bool find_program() {
  const char* slash = std::strrchr(library, '/');
  if (slash == nullptr) return false;
  const int length = static_cast<int>(slash - library);
  for (const char* relative : {"", "/../bin", "/../../bin"}) {
    std::snprintf(launch.program, sizeof launch.program, "%.*s%s/lotus-collector", length, library, relative);
    if (access(launch.program, X_OK) == 0) return true;
  }
  return false;
}

void prepare_environment() {
  std::size_t kept = 0;
  for (char** entry = environ; entry != nullptr && *entry != nullptr && kept + 1 < kMaxEnvironment; ++entry)
    if (std::strncmp(*entry, "LD_PRELOAD=", 11) != 0) launch.environment[kept++] = *entry;
  launch.environment[kept] = nullptr;
}

void prepare_arguments() {
  static constinit char autostart[] = "--autostart";
  static constinit char directory[] = "--dir";
  int n = 0;
  launch.arguments[n++] = launch.program;
  launch.arguments[n++] = autostart;
  if (config.directory != nullptr) {  // else it watches all the usual places
    launch.arguments[n++] = directory;
    launch.arguments[n++] = session.directory;
  }
  launch.arguments[n] = nullptr;
  prepare_environment();
}

void close_from(unsigned first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0u, 0u) == 0) return;
#endif
  for (int descriptor = static_cast<int>(first); descriptor < 65536; ++descriptor) close(descriptor);
}

void execute_collector() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) real_sigaction(signal, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  launch.executed = true;
  execve(launch.program, launch.arguments, launch.environment);
  launch.executed = false;
  _exit(127);
}

// The collector's process until exec. It shares memory with the target (CLONE_VM), whose thread waits.
int become_collector(void*) {
  setsid();
  close_from(0);
  open("/dev/null", O_RDWR);
  [[maybe_unused]] const int out = dup(0);
  [[maybe_unused]] const int err = dup(0);
  [[maybe_unused]] const int moved = chdir("/");
  execute_collector();
  return 0;
}

// The helper's process until exec, in the same way. It has no descriptor but the one it answers to.
int become_helper(void*) {
  dup2(launch.answer, STDOUT_FILENO);
  close(STDIN_FILENO);
  close(STDERR_FILENO);
  open("/dev/null", O_RDWR);
  dup2(STDIN_FILENO, STDERR_FILENO);
  close_from(STDERR_FILENO + 1);
  execute_collector();
  return 0;
}

// A process that adopts its descendants' children would get the collector, and wait for it as for its own.
class NoSubreaper {
 public:
  NoSubreaper() {
    if (prctl(PR_GET_CHILD_SUBREAPER, &was_, 0, 0, 0) == 0 && was_ != 0)
      prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
  }
  ~NoSubreaper() {
    if (was_ != 0) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  }
  NoSubreaper(const NoSubreaper&) = delete;
  NoSubreaper& operator=(const NoSubreaper&) = delete;

 private:
  int was_ = 0;
};

// In between, so that the collector is reparented as soon as this one ends.
int start_collector(void*) {
  clone(become_collector, launch.inner_stack + kStackBytes, CLONE_VM | CLONE_VFORK, nullptr);
  _exit(0);
}

// Until the end of what is written, for kHelperPatience at most. The bytes read.
std::size_t read_answer(int descriptor, char* answer, std::size_t size) {
  const std::uint64_t last = clock_ns(CLOCK_MONOTONIC) + std::uint64_t{kHelperPatience} * 1'000'000;
  std::size_t used = 0;
  while (used + 1 < size) {
    const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
    pollfd ready{descriptor, POLLIN, 0};
    if (now >= last) break;
    timespec left{static_cast<time_t>((last - now) / 1'000'000'000),
                  static_cast<long>((last - now) % 1'000'000'000)};
    // poll() and read() are functions that the recorder watches.
    if (syscall(SYS_ppoll, &ready, 1, &left, nullptr, 0) == 0) break;
    const long bytes = syscall(SYS_read, descriptor, answer + used, size - 1 - used);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) break;
    used += static_cast<std::size_t>(bytes);
  }
  answer[used] = '\0';
  return used;
}

}  // namespace

void remember_library() {
  const Loaded own = find_loaded(reinterpret_cast<void*>(&ensure_collector));
  if (own && realpath(own.map->l_name, library) == nullptr) library[0] = '\0';
}

bool is_served() { return serving(session.directory).held; }

bool is_of_another_installation(std::uint32_t collector, char (&program)[kPathBytes]) {
  char link[32];
  char own[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/%u/exe", collector);
  const ssize_t length = readlink(link, program, sizeof program - 1);
  if (length <= 0) return false;
  program[length] = '\0';
  // Of a program that an emulator runs, the link leads to the emulator.
  const char* const name = std::strrchr(program, '/');
  if (name == nullptr || std::strncmp(name, "/lotus-collector", std::strlen("/lotus-collector")) != 0)
    return false;
  return find_program() && realpath(launch.program, own) != nullptr && std::strcmp(program, own) != 0;
}

bool was_started_just_now() {
  const std::uint64_t begin = __atomic_load_n(&started_ns, __ATOMIC_RELAXED);
  return begin != 0 && clock_ns(CLOCK_MONOTONIC) - begin < kUntilItReads;
}

CollectorStart ensure_collector() {
  if (is_served()) return CollectorStart::serving;
  if (!find_program()) return CollectorStart::absent;
  if (leaves_namespace()) return CollectorStart::failed;
  prepare_arguments();
  launch.executed = false;
  sigset_t all;
  sigset_t saved;
  sigfillset(&all);
  set_signal_mask(SIG_SETMASK, &all, &saved);
  const NoSubreaper no_subreaper;
  // Exit signal 0: the parent gets no SIGCHLD, and its own wait() calls never see this child.
  const int child = clone(start_collector, launch.outer_stack + kStackBytes, CLONE_VM | CLONE_VFORK, nullptr);
  if (child > 0) {
    while (waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  set_signal_mask(SIG_SETMASK, &saved, nullptr);
  if (child <= 0 || !launch.executed) return CollectorStart::failed;
  started_ns = clock_ns(CLOCK_MONOTONIC);
  return CollectorStart::started;
}

bool ask_collector(const char* option, const char* argument, char* answer, std::size_t size) {
  int ends[2];
  if (!find_program() || leaves_namespace() || pipe2(ends, O_CLOEXEC) != 0) return false;
  // They stay what they are: `execve` of the collector only reads them.
  launch.arguments[0] = launch.program;
  launch.arguments[1] = const_cast<char*>(option);
  launch.arguments[2] = const_cast<char*>(argument);
  launch.arguments[3] = nullptr;
  prepare_environment();
  launch.answer = ends[1];
  launch.executed = false;
  sigset_t all;
  sigset_t saved;
  sigfillset(&all);
  set_signal_mask(SIG_SETMASK, &all, &saved);
  const int child = clone(become_helper, launch.outer_stack + kStackBytes, CLONE_VM | CLONE_VFORK, nullptr);
  close(ends[1]);
  const std::size_t bytes = child > 0 ? read_answer(ends[0], answer, size) : 0;
  close(ends[0]);
  if (child > 0) {
    kill(child, SIGKILL);
    while (waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  }
  set_signal_mask(SIG_SETMASK, &saved, nullptr);
  return bytes != 0;
}

void check_collector() {
  if (__atomic_load_n(&started_ns, __ATOMIC_RELAXED) == 0 || was_started_just_now()) return;
  if (__atomic_exchange_n(&started_ns, 0, __ATOMIC_RELAXED) == 0) return;  // another thread looks
  const SegmentHeader* const header = process.segment.header;
  if (!session.first || process.pid != getpid() || header == nullptr ||
      __atomic_load_n(&header->reader_pid, __ATOMIC_RELAXED) != 0 || is_served())
    return;
  if (session.root) give_back_output(session.output, session.pid, session.start_time);
  char line[4096];
  std::snprintf(
      line, sizeof line,
      "nothing is written to %.1200s yet: %.1200s was started and is gone; run it by hand to see why. "
      "What is recorded waits in %.1200s: `lotus-collector --drain` writes it",
      session.output, launch.program, session.directory);
  say(line);
}

}  // namespace lotus
