#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampling/sample_timer.hpp"

namespace lotus {
namespace {

constinit char own_signals = 0;  // its address tells our signals from others

// The CPU clock of any thread of this process (the kernel's encoding, as in pthread_getcpuclockid).
clockid_t cpu_clock(int tid) { return static_cast<clockid_t>((~static_cast<unsigned>(tid) << 3) | 6u); }

// Timers are numbered from 0, handles from 1.
int number_of(std::uintptr_t timer) { return static_cast<int>(timer - 1); }

std::uintptr_t start(int tid, int signal, std::uint64_t period_ns) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event.sigev_value.sival_ptr = &own_signals;
  event._sigev_un._tid = tid;
  int timer = -1;
  if (syscall(SYS_timer_create, cpu_clock(tid), &event, &timer) != 0) return 0;
  itimerspec every{};
  every.it_interval = {static_cast<time_t>(period_ns / 1'000'000'000),
                       static_cast<long>(period_ns % 1'000'000'000)};
  every.it_value = every.it_interval;
  if (syscall(SYS_timer_settime, timer, 0, &every, nullptr) == 0)
    return static_cast<std::uintptr_t>(timer) + 1;
  syscall(SYS_timer_delete, timer);
  return 0;
}

void stop(std::uintptr_t timer) { syscall(SYS_timer_delete, number_of(timer)); }

// A timer of a thread that ended shows no time to its next expiration.
bool runs(std::uintptr_t timer) {
  itimerspec left{};
  return syscall(SYS_timer_gettime, number_of(timer), &left) == 0 &&
         (left.it_value.tv_sec != 0 || left.it_value.tv_nsec != 0);
}

bool sent(const siginfo_t& info) {
  return info.si_code == SI_TIMER && info.si_value.sival_ptr == &own_signals;
}

std::uint32_t periods(const siginfo_t& info, std::uint64_t) {
  return 1 + static_cast<std::uint32_t>(info.si_overrun);
}

}  // namespace

constinit const SampleTimer kCpuTimer{start, stop, runs, sent, periods};

}  // namespace lotus
