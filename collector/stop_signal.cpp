#include "stop_signal.hpp"

#include <signal.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>

namespace lotus::collector {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT, SIGHUP};
StopSignal* listening = nullptr;

void on_signal(int /*signal*/) {
  const int saved = errno;
  for (const int other : kSignals) ::signal(other, SIG_DFL);
  listening->ask();
  errno = saved;
}

}  // namespace

StopSignal::StopSignal() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void StopSignal::listen() {
  listening = this;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) {
    struct sigaction old {};
    // SIGHUP stays ignored under nohup.
    if (sigaction(signal, nullptr, &old) == 0 && (old.sa_handler != SIG_IGN || signal == SIGTERM))
      sigaction(signal, &action, nullptr);
  }
}

void StopSignal::ask() {
  asked_.store(true);
  const std::uint64_t one = 1;
  if (write(event_.get(), &one, sizeof one) < 0) return;  // full already: then it polls readable
}

}  // namespace lotus::collector
