// Many processes that record at a given rate, with the recorder of liblotus.so: the load for bench/load.
//
//   bench-load PROCESSES EVENTS_A_SECOND SECONDS      of each process; 0 events: as fast as the recorder goes
//
// LOTUS_DIR and LOTUS_OUTPUT say where segments and trace go. Prints what was recorded: events, and seconds
// taken.
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "config.hpp"
#include "recorder.hpp"
#include "session.hpp"

namespace {

constexpr std::uint64_t kTick = 10'000'000;  // ns between bursts of a process that records at a rate
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kBurst = 1000;  // pairs between looks at the clock at full speed

// An operation of varying length, or compression would be too easy.
std::uint32_t vary(std::uint32_t state) {
  for (std::uint32_t rounds = 1 + state % 64; rounds > 0; --rounds) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
  }
  return state;
}

std::uint64_t record(std::uint64_t pairs) {
  static std::uint32_t state = 2463534242;
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

// Events recorded.
std::uint64_t run(std::uint64_t events_a_second, std::uint64_t seconds) {
  const std::uint64_t begin = lotus::clock_ns(CLOCK_MONOTONIC);
  std::uint64_t recorded = 0;
  for (std::uint64_t now = begin; now < begin + seconds * kSecond; now = lotus::clock_ns(CLOCK_MONOTONIC)) {
    if (events_a_second == 0) {
      recorded += record(kBurst);
      continue;
    }
    // What is due by now: a process that was scheduled away catches up.
    const std::uint64_t due = (now - begin) / kTick * (events_a_second / (kSecond / kTick));
    if (due > recorded) recorded += record((due - recorded) / 2);
    sleep_until(begin + ((now - begin) / kTick + 1) * kTick);
  }
  if (lotus::Thread* thread = lotus::current_thread()) lotus::flush(*thread);
  return recorded;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::uint64_t processes = std::strtoull(argv[1], nullptr, 10);
  const std::uint64_t rate = std::strtoull(argv[2], nullptr, 10);
  const std::uint64_t seconds = std::strtoull(argv[3], nullptr, 10);
  lotus::read_config();
  lotus::choose_clock();
  if (!lotus::find_session()) return 1;
  int results[2];
  if (pipe(results) != 0) return 1;
  const std::uint64_t begin = lotus::clock_ns(CLOCK_MONOTONIC);
  std::vector<pid_t> children;
  for (std::uint64_t i = 0; i < processes; ++i) {
    const pid_t child = fork();
    if (child < 0) break;
    if (child == 0) {
      const std::uint64_t recorded = run(rate, seconds);
      _exit(write(results[1], &recorded, sizeof recorded) == sizeof recorded ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  const double taken = static_cast<double>(lotus::clock_ns(CLOCK_MONOTONIC) - begin) / kSecond;
  close(results[1]);
  std::uint64_t all = 0;
  std::uint64_t recorded = 0;
  while (read(results[0], &recorded, sizeof recorded) == sizeof recorded) all += recorded;
  std::printf("%llu %.3f\n", static_cast<unsigned long long>(all), taken);
  return children.size() == processes ? 0 : 1;
}
