// Runs as /init of an emulated machine: counts loops of known length with the library's own counter code.
//
// A line for each: RESULT <counters asked for> <instructions executed> <counter>=<counted, scaled up> …
#include <sys/mount.h>
#include <sys/reboot.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "counters/perf_events.hpp"
#include "counters/wanted.hpp"

namespace {

// 2 instructions a round.
void run(std::uint64_t rounds) { __asm__ volatile("1: subs %0, %0, #1\n b.ne 1b" : "+r"(rounds)::"cc"); }

void show(const lotus::ThreadEvents& events, const lotus::Counts& from, const lotus::Counts& to,
          std::size_t i) {
  const auto& counter = lotus::wanted_counters.of[i];
  const int length = static_cast<int>(counter.row.name.size());
  if (counter.error != 0)
    return (void)std::printf(" %.*s:%s", length, counter.row.name.data(), strerror(counter.error));
  if (((from.known & to.known) >> i & 1) == 0)
    return (void)std::printf(" %.*s:unknown", length, counter.row.name.data());
  double on = 1;
  if (const auto group = events.group_of[i]; group != lotus::kNoGroup) {
    const auto enabled = static_cast<double>(to.times[group].enabled - from.times[group].enabled);
    const auto running = static_cast<double>(to.times[group].running - from.times[group].running);
    on = enabled > 0 ? running / enabled : 1;
  }
  const auto counted = static_cast<double>(lotus::counted(events, i, from, to));
  std::printf(" %.*s=%.0f/%.3f", length, counter.row.name.data(), on > 0 ? counted / on : 0, on);
}

// How often the kernel was asked for a group of events.
int asked = 0;
long (*read_of_kernel)(int descriptor, void* to, std::size_t bytes) = nullptr;
long counted_read(int descriptor, void* to, std::size_t bytes) {
  ++asked;
  return read_of_kernel(descriptor, to, bytes);
}

// How many of the events may be read without the kernel.
std::size_t in_pages(const lotus::ThreadEvents& events) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < lotus::wanted_counters.count; ++i) count += events.pages[i] != nullptr;
  return count;
}

void count(const char* counters, std::initializer_list<std::uint64_t> lengths) {
  lotus::ThreadEvents events{};
  if (lotus::want_counters(counters) != nullptr) return (void)std::printf("REFUSED %s\n", counters);
  lotus::try_counters();
  for (const std::uint64_t rounds : lengths) {
    lotus::Counts from, to;
    asked = 0;
    lotus::read_counts(events, 1, lotus::Edge::begin, from);
    run(rounds);
    lotus::read_counts(events, 1, lotus::Edge::end, to);
    std::printf("RESULT %s %llu", counters, 2ull * rounds);
    for (std::size_t i = 0; i < lotus::wanted_counters.count; ++i) show(events, from, to, i);
    std::printf(" pages:%zu asked:%d\n", in_pages(events), asked);
  }
  lotus::close_events(events);
}

void write_user_access(const char* value) {
  if (std::FILE* file = std::fopen("/proc/sys/kernel/perf_user_access", "w")) {
    std::fputs(value, file);
    std::fclose(file);
  }
}
void permit_user_access() { write_user_access("1"); }
void forbid_user_access() { write_user_access("0"); }

}  // namespace

int main() {
  mount("proc", "/proc", "proc", 0, nullptr);
  mount("sysfs", "/sys", "sysfs", 0, nullptr);
  read_of_kernel = std::exchange(lotus::perf_kernel.read, counted_read);
  count("default", {500'000, 5'000'000, 50'000'000});
  count("instructions", {500'000, 5'000'000, 50'000'000});
  permit_user_access();
  count("instructions", {500'000, 5'000'000, 50'000'000});
  count("instructions,cycles,r08,cpu-migrations", {500'000, 5'000'000, 50'000'000});
  count("instructions,r08,r11,cycles,r00,r1b,r1d,r12,r10,r09,r0a,r0b", {10'000'000, 50'000'000});
  forbid_user_access();
  // More than the processor has: in two groups. A group's turn lasts for a tick or more, 4 ms.
  count("instructions,r08,r11,cycles,r00,r1b,r1d,r12,r10,r09,r0a,r0b", {10'000'000, 50'000'000});
  std::fflush(stdout);
  reboot(RB_POWER_OFF);
  return 0;
}
