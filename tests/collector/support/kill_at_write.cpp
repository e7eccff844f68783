#include "support/kill_at_write.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/collector_run.hpp"

namespace lotus::test {
#if defined(__x86_64__)
namespace {

constexpr int kUntraceable = 99;

[[noreturn]] void become_traced(std::vector<std::string> texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nothing, STDERR_FILENO);
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) execv(pointers.front(), pointers.data());
  leave_child(kUntraceable);
}

// Lets `child` run to its next stop; false once it has ended.
bool next_stop(pid_t child, int& status) {
  ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  return waitpid(child, &status, 0) == child && WIFSTOPPED(status);
}

bool is_write(pid_t child) {
  user_regs_struct registers{};
  ptrace(PTRACE_GETREGS, child, nullptr, &registers);
  return registers.orig_rax == SYS_pwrite64;
}

}  // namespace

std::optional<bool> kill_at_write(const std::vector<std::string>& arguments, unsigned nth, KilledAt when) {
  std::vector<std::string> texts{LOTUS_COLLECTOR_PROGRAM};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  const pid_t child = fork_or_throw();
  if (child == 0) become_traced(texts);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return std::nullopt;
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  unsigned writes = 0;
  bool entered = false;
  while (next_stop(child, status)) {
    if (WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
    entered = !entered;
    if (!is_write(child)) continue;
    if (entered) ++writes;
    if (writes != nth || entered != (when == KilledAt::entry)) continue;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return true;
  }
  return false;
}

#else
std::optional<bool> kill_at_write(const std::vector<std::string>&, unsigned, KilledAt) {
  return std::nullopt;
}
#endif

}  // namespace lotus::test
