// Snapshots survive the killing of the collector and of their process: each becomes one sample, with names.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "support/collector_run.hpp"
#include "support/kill_at_write.hpp"
#include "support/sample_reader.hpp"
#include "support/snapshots.hpp"
#include "support/temporary.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

extern "C" [[gnu::noinline]] void lotus_test_odd(SnapshotParts& parts) {
  parts = snapshot_here(2048);
  asm volatile("" ::: "memory");
}
extern "C" [[gnu::noinline]] void lotus_test_even(SnapshotParts& parts) {
  lotus_test_odd(parts);
  asm volatile("" ::: "memory");
}

// A snapshot whose operation id is its number; the number also selects the function that takes it.
std::vector<std::uint8_t> numbered(std::uint32_t serial) {
  SnapshotParts parts;
  if (serial % 2 == 0)
    lotus_test_even(parts);
  else
    lotus_test_odd(parts);
  parts.header.op = serial;
  parts.python = {{parts.registers[kOwnRegisters.stack_pointer] + 1024, 1 + serial % 3, 0}};
  return parts.bytes();
}

void define_all(SegmentWriter& segment) {
  ModuleTeller().tell(segment, 1);
  push_definition<Kind::code>(segment, 2, 1u, "one", "one.py", 1u);
  push_definition<Kind::code>(segment, 3, 2u, "two", "two.py", 2u);
  push_definition<Kind::code>(segment, 4, 3u, "three", "three.py", 3u);
}

void check_samples(const Trace& trace, std::uint32_t processes, std::uint32_t serials) {
  CHECK(what_is_wrong(trace) == "");
  std::map<std::uint32_t, std::vector<std::uint64_t>> had;
  for (const Sample& sample : read_samples(trace)) {
    had[sample.process].push_back(sample.op);
    CHECK(sample.innermost(1) == "lotus_test_odd");
    CHECK((sample.innermost(2) == "lotus_test_odd < lotus_test_even") == (sample.op % 2 == 0));
    CHECK(std::all_of(sample.frames.begin(), sample.frames.end(),
                      [](const SampleFrame& frame) { return !frame.function.empty(); }));
    const std::string python = sample.op % 3 == 0 ? "one" : sample.op % 3 == 1 ? "two" : "three";
    CHECK(std::any_of(sample.frames.begin(), sample.frames.end(),
                      [&](const SampleFrame& frame) { return frame.function == python; }));
  }
  CHECK(had.size() == processes);
  for (auto& [process, ops] : had) CHECK(ops == up_to(serials));
}

constexpr std::uint32_t kEnded = 2;
constexpr std::uint32_t kSnapshots = 20;

// Makes segments of two ended processes and of this one, with snapshots that are not collected yet.
void make_processes(const TemporaryDirectory& segments, const std::string& output) {
  SegmentPlan plan;
  plan.directory = segments.path();
  plan.output = output;
  plan.session_pid = 1;
  plan.session_start_time = 1;
  for (std::uint32_t i = 0; i <= kEnded; ++i) {
    std::tie(plan.pid, plan.start_time) = i < kEnded ? dead_process() : std::pair{0u, std::uint64_t{0}};
    SegmentWriter segment(plan);
    define_all(segment);
    for (std::uint32_t serial = 1; serial <= kSnapshots; ++serial)
      REQUIRE(push_snapshot(segment, numbered(serial), 100 + serial));
  }
}

void sampled_program(const TemporaryDirectory& segments, const std::string& output, std::uint32_t snapshots) {
  SegmentPlan plan;
  plan.directory = segments.path();
  plan.output = output;
  SegmentWriter segment(plan);
  define_all(segment);
  for (std::uint32_t serial = 1; serial <= snapshots; ++serial) {
    const auto bytes = numbered(serial);
    while (!push_snapshot(segment, bytes, 100 + serial)) usleep(100);
  }
}

}  // namespace

TEST_CASE("a collector that is killed right before and right after each of its writes") {
  for (const auto when : {KilledAt::entry, KilledAt::exit})
    for (unsigned nth = 1; nth < 20; ++nth) {
      CAPTURE(nth);
      const TemporaryDirectory segments;
      const TemporaryDirectory outputs;
      const std::string output = outputs / "x.lotus";
      make_processes(segments, output);
      const auto killed = kill_at_write({"--drain", "--dir", segments.path()}, nth, when);
      if (!killed) {
        MESSAGE("skipped: tracing system calls is not permitted or not built for this machine");
        return;
      }
      CHECK(drain(segments.path()).code == 0);
      check_samples(read_trace(output), kEnded + 1, kSnapshots);
      if (!*killed) {
        CHECK(nth > 4);  // the collector must make writes at which it can be killed
        break;
      }
    }
}

TEST_CASE("a collector that is killed at random moments while a process is sampled") {
  constexpr std::uint32_t kMany = 4000;
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const TemporaryDirectory segments;
    const TemporaryDirectory outputs;
    const std::string output = outputs / "x.lotus";
    std::mt19937 random(seed);
    const pid_t program = in_child([&] { sampled_program(segments, output, kMany); });
    for (int kills = 0; kills < 5; ++kills) {
      CollectorProgram collector({"--autostart", "--dir", segments.path()}, outputs / "log");
      usleep(random() % 30'000);
      collector.signal(SIGKILL);
      collector.wait();
    }
    CollectorProgram last({"--dir", segments.path()}, outputs / "log");
    CHECK(wait_for(program) == 0);
    last.signal(SIGTERM);
    CHECK(last.wait().code == 0);
    check_samples(read_trace(output), 1, kMany);
  }
}

TEST_CASE("a process that is killed, also in the middle of a snapshot") {
  const TemporaryDirectory segments;
  const TemporaryDirectory outputs;
  const std::string output = outputs / "x.lotus";
  const pid_t program = in_child([&] {
    SegmentPlan plan;
    plan.directory = segments.path();
    plan.output = output;
    SegmentWriter segment(plan);
    define_all(segment);
    for (std::uint32_t serial = 1; serial <= 5; ++serial)
      push_snapshot(segment, numbered(serial), 100 + serial);
    segment.writer(kStackRing).reserve(3000);  // never filled
    for (std::uint32_t serial = 6; serial <= 8; ++serial)
      push_snapshot(segment, numbered(serial), 100 + serial);
    kill(getpid(), SIGKILL);
  });
  CHECK(wait_for(program) == 128 + SIGKILL);
  CHECK(drain(segments.path()).code == 0);
  check_samples(read_trace(output), 1, 8);
}
