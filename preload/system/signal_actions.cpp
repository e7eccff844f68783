#include "system/signal_actions.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "system/signal_mask.hpp"

namespace lotus {

constinit Sigaction real_sigaction = nullptr;

bool take_signal(int signal, SignalHandler handler) {
  struct sigaction action {};
  if (real_sigaction(signal, nullptr, &action) != 0 || (action.sa_flags & SA_SIGINFO) != 0 ||
      action.sa_handler != SIG_DFL)
    return false;
  action.sa_sigaction = handler;
  // The alternate stack, where a thread has one: it may have little of its own. Nothing may interrupt the
  // handler: a jump out of it would leave the ring with a hole.
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  return real_sigaction(signal, &action, nullptr) == 0;
}

int take_real_time_signal(SignalHandler handler, int first, int except) {
  const int lowest = SIGRTMIN;
  const int highest = SIGRTMAX - 1;
  const int count = highest - lowest + 1;
  for (int i = 0; i < count; ++i) {
    const int signal = lowest + (first - lowest - i + count) % count;
    if (signal != except && take_signal(signal, handler)) return signal;
  }
  return 0;
}

bool has_signal(int signal, SignalHandler handler) {
  struct sigaction action {};
  return real_sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) != 0 &&
         action.sa_sigaction == handler;
}

void give_back_signal(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;  // the kernel discards what is pending
  real_sigaction(signal, &action, nullptr);
  action.sa_handler = SIG_DFL;
  real_sigaction(signal, &action, nullptr);
}

void end_by_signal(int signal) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  real_sigaction(signal, &standard, nullptr);
  syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  set_signal_mask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace lotus
