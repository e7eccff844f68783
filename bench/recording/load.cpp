// Many processes that record at a given rate, with the recorder of liblotus.so: the load for bench/load and
// bench/bounds.
//
//   bench-load PROCESSES EVENTS_A_SECOND SECONDS [THREADS [AT_ONCE]]
//
// Each process has THREADS threads (default: 1), each with this rate and time. 0 events: as fast as possible;
// 0 seconds: some events, then it ends. AT_ONCE processes (default: all) run at the same time.
//
// LOTUS_DIR and LOTUS_OUTPUT name the places of segments and trace. Prints the number of recorded events, and
// the seconds taken.
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "life/config.hpp"
#include "life/session.hpp"
#include "record/recorder.hpp"

namespace {

constexpr std::uint64_t kTick = 10'000'000;  // ns: the shortest time between bursts of a thread with a rate
constexpr std::uint64_t kTickEvents = 20;    // the fewest events of such a burst
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kBurst = 1000;  // pairs between reads of the clock, at full speed

// An operation of varying length: equal lengths would compress too well.
std::uint32_t vary(std::uint32_t state) {
  for (std::uint32_t rounds = 1 + state % 64; rounds > 0; --rounds) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
  }
  return state;
}

std::uint64_t record(std::uint64_t pairs) {
  thread_local std::uint32_t state = 2463534242;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    const lotus::Span span = lotus::enter<lotus::Kind::op>(state % 7 + 1);
    state = vary(state);
    lotus::leave(span, lotus::Kind::leave);
  }
  return 2 * pairs;
}

void sleep_until(std::uint64_t ns) {
  const timespec at{static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

struct Load {
  std::uint64_t processes, events_a_second, seconds, threads, at_once;
};

// Records in this thread; returns the number of events.
std::uint64_t run(const Load& load) {
  if (load.seconds == 0) return record(kBurst / 10);
  const std::uint64_t begin = lotus::clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t tick =
      std::max(kTick, load.events_a_second == 0 ? 0 : kTickEvents * kSecond / load.events_a_second);
  std::uint64_t recorded = 0;
  for (std::uint64_t now = begin; now < begin + load.seconds * kSecond;
       now = lotus::clock_ns(CLOCK_MONOTONIC)) {
    if (load.events_a_second == 0) {
      recorded += record(kBurst);
      continue;
    }
    // Catches up if the process was scheduled away.
    const std::uint64_t due = (now - begin) / tick * tick * load.events_a_second / kSecond;
    if (due > recorded) recorded += record((due - recorded) / 2);
    sleep_until(begin + ((now - begin) / tick + 1) * tick);
  }
  return recorded;
}

// Records in all threads of this process; returns the number of events.
std::uint64_t run_threads(const Load& load) {
  std::vector<std::uint64_t> recorded(load.threads);
  std::vector<std::thread> threads;
  lotus::current_thread();  // first, as in Python, where one thread holds the interpreter's lock
  const auto work = [&](std::size_t i) {
    recorded[i] = run(load);
    if (lotus::Thread* thread = lotus::current_thread()) lotus::flush(*thread);
  };
  for (std::size_t i = 1; i < load.threads; ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
  std::uint64_t all = 0;
  for (const std::uint64_t events : recorded) all += events;
  return all;
}

// Forks a child that adds its number of events to `total`, which is shared.
pid_t start(const Load& load, std::uint64_t* total) {
  const pid_t child = fork();
  if (child != 0) return child;
  __atomic_fetch_add(total, run_threads(load), __ATOMIC_RELAXED);
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 6) return 2;
  const auto number = [&](int i, std::uint64_t otherwise) {
    return i < argc ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const std::uint64_t processes = number(1, 1);
  const Load load{processes, number(2, 0), number(3, 0), number(4, 1), number(5, processes)};
  lotus::read_config();
  lotus::choose_clock();
  if (!lotus::find_session()) return 1;
  void* shared =
      mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  auto* total = static_cast<std::uint64_t*>(shared);
  const std::uint64_t begin = lotus::clock_ns(CLOCK_MONOTONIC);
  std::uint64_t ended = 0;
  for (std::uint64_t started = 0; started < load.processes; ++started) {
    if (started - ended == load.at_once && wait(nullptr) > 0) ++ended;
    if (start(load, total) < 0) break;
  }
  while (wait(nullptr) > 0) ++ended;
  const double taken = static_cast<double>(lotus::clock_ns(CLOCK_MONOTONIC) - begin) / kSecond;
  std::printf("%llu %.3f\n", static_cast<unsigned long long>(*total), taken);
  return ended == load.processes ? 0 : 1;
}
