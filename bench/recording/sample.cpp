// The cost of a stack sample for its thread: ns for the signal, the copy and the return, with different
// amounts of stack to copy; and the same for a signal with an empty handler.
//
//   bench-sample [SAMPLES]      default 200,000 of each; segments in a directory of its own under /dev/shm
//
// Then the same while the thread's counters are read at each sample (LOTUS_COUNTERS).
//
// A thread sends itself the signal, with the siginfo of the kernel's timer. The cost of that system call,
// measured with an ignored signal, is subtracted. The timer's interrupt is not included.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <lotus/ring.hpp>
#include <vector>

#include "counters/perf_events.hpp"
#include "own_segment.hpp"
#include "python/python_calls.hpp"
#include "sampling/sampler.hpp"
#include "sampling/thread_timers.hpp"
#include "system/signal_actions.hpp"

namespace {

constexpr int kPythonFrames = 15;  // a usual number in a pipeline
constexpr std::uint64_t kBetweenDrains = 16;

volatile std::uint64_t sink = 0;

void burn_cpu() {
  for (std::uint64_t i = 0; i < 10'000'000; ++i) sink = sink + i;
}

// Waits for a signal of the sampler's timer and returns its siginfo, whose contents only the kernel knows.
siginfo_t capture(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  siginfo_t info{};
  const timespec now{};
  while (syscall(SYS_rt_sigtimedwait, &set, &info, &now, _NSIG / 8) != signal) burn_cpu();
  lotus::disarm_threads();
  while (syscall(SYS_rt_sigtimedwait, &set, &info, &now, _NSIG / 8) == signal) continue;
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  return info;
}

void send(const siginfo_t& info) {
  syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), info.si_signo, &info);
}

void do_nothing(int, siginfo_t*, void*) {}

// Sets up another signal with the sampler's flags and this handler, or to be ignored (nullptr); returns it.
int take_other_signal(void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  action.sa_sigaction = handler;
  if (handler == nullptr) {
    action.sa_flags = 0;
    action.sa_handler = SIG_IGN;
  }
  sigfillset(&action.sa_mask);
  lotus::real_sigaction(SIGRTMIN + 5, &action, nullptr);
  return SIGRTMIN + 5;
}

struct Taken {
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;
};

void drain(lotus::RingReader& reader, Taken& taken) {
  lotus::RingRecord record;
  const std::uint8_t* payload = nullptr;
  while (reader.next(record, payload) == lotus::RingReader::Next::record) {
    ++taken.samples;
    taken.bytes += record.stored_bytes;
    reader.release(record);
  }
}

// ns per signal: the median over batches, without the time to drain.
[[gnu::noinline]] double signals(std::uint64_t count, const siginfo_t& info, lotus::RingReader& reader,
                                 Taken& taken) {
  std::vector<std::uint64_t> elapsed;
  for (std::uint64_t done = 0; done < count; done += kBetweenDrains) {
    const std::uint64_t begin = lotus::clock_ns(CLOCK_MONOTONIC);
    for (std::uint64_t i = 0; i < kBetweenDrains; ++i) send(info);
    elapsed.push_back(lotus::clock_ns(CLOCK_MONOTONIC) - begin);
    drain(reader, taken);
  }
  const auto middle = elapsed.begin() + static_cast<std::ptrdiff_t>(elapsed.size() / 2);
  std::nth_element(elapsed.begin(), middle, elapsed.end());
  return static_cast<double>(*middle) / kBetweenDrains;
}

// The same inside an operation, with Python calls and `bytes` of stack since its entry.
[[gnu::noinline]] double inside_operation(std::size_t bytes, std::uint64_t count, const siginfo_t& info,
                                          lotus::RingReader& reader, Taken& taken) {
  const lotus::Span span = lotus::enter<lotus::Kind::op>(std::uint32_t{1});
  lotus::mark_entry(span, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  lotus::PythonCall calls[kPythonFrames];
  for (int i = 0; i < kPythonFrames; ++i)
    calls[i] = {i + 1 < kPythonFrames ? &calls[i + 1] : nullptr, &calls[i], 1};
  auto* stack = static_cast<volatile char*>(__builtin_alloca(bytes));
  for (std::size_t i = 0; i < bytes; ++i) stack[i] = static_cast<char>(i);
  lotus::python_thread.calls = calls;
  const double ns = signals(count, info, reader, taken);
  lotus::python_thread.calls = nullptr;
  lotus::leave(span, lotus::Kind::leave);
  return ns;
}

void report(const char* what, double ns, double empty, const Taken& taken) {
  std::printf("%-34s %6.0f ns", what, ns);
  if (taken.samples > 0)
    std::printf("   (%4.0f ns above an empty handler; %.1f KiB stored)", ns - empty,
                static_cast<double>(taken.bytes) / static_cast<double>(taken.samples) / 1024);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200'000;
  if (count == 0) return 2;
  const OwnSegment segment(OwnSegment::Samples::yes);
  if (!segment.made() || lotus::sample_signal_now() == 0) return 1;
  lotus::RingReader reader = segment.ring(lotus::kStackRing);
  const siginfo_t sample = capture(lotus::sample_signal_now());
  siginfo_t other = sample;
  Taken none;
  other.si_signo = take_other_signal(nullptr);
  const double sending = signals(count, other, reader, none);
  other.si_signo = take_other_signal(do_nothing);
  const double empty = signals(count, other, reader, none) - sending;
  report("a signal with an empty handler", empty, empty, none);
  Taken idle;
  report("a sample outside of operations", signals(count, sample, reader, idle) - sending, empty, idle);
  for (const std::size_t kibibytes : {1, 5, 15}) {
    Taken taken;
    char what[64];
    std::snprintf(what, sizeof what, "a sample, %zu KiB into an operation", kibibytes);
    const double ns = inside_operation(kibibytes * 1024, count, sample, reader, taken) - sending;
    report(what, ns, empty, taken);
  }
  for (const char* counters : {"task-clock", "default"}) {
    if (lotus::want_counters(counters) != nullptr) return 1;
    lotus::try_counters();
    const lotus::Span span = lotus::enter<lotus::Kind::op>(std::uint32_t{1});
    lotus::begin_counting();  // opens the thread's events
    lotus::leave(span, lotus::Kind::leave);
    Taken taken;
    char what[64];
    std::snprintf(what, sizeof what, "… 5 KiB, LOTUS_COUNTERS=%s", counters);
    const double ns = inside_operation(5 * 1024, count, sample, reader, taken) - sending;
    report(what, ns, empty, taken);
  }
  std::printf("samples that were lost             %6llu\n",
              static_cast<unsigned long long>(segment.header().lost_snapshots));
  return 0;
}
