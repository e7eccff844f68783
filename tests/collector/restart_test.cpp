// A collector is killed at any moment and started again: the file has every record exactly once.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <random>

#include "support/collector_run.hpp"
#include "support/kill_at_write.hpp"
#include "support/segment_writer.hpp"
#include "support/temporary.hpp"
#include "support/trace_reader.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

constexpr std::uint64_t kRecords = 60'000;
constexpr std::uint64_t kDefinitions = 40;

// Records two streams in small chunks, so that most data are handed on and little stays in open chunks.
void traced_program(const TemporaryDirectory& segments, const std::string& output) {
  SegmentPlan plan;
  plan.directory = segments.path();
  plan.output = output;
  plan.chunk_bytes = 512;
  plan.ring_bytes[kEventRing] = 4096;
  SegmentWriter segment(plan);
  ThreadWriter first(segment, 0, 1);
  ThreadWriter second(segment, 1, 2);
  for (std::uint64_t i = 1; i <= kRecords; ++i) {
    if (i % (kRecords / kDefinitions) == 0)
      segment.define(i / (kRecords / kDefinitions), "Op", first.next_ticks());
    first.record(i);
    second.record(i);
  }
}

void run_with_kills(std::uint32_t seed) {
  const TemporaryDirectory segments;
  const TemporaryDirectory outputs;
  const std::string output = outputs / "x.lotus";
  std::mt19937 random(seed);
  const pid_t program = in_child([&] { traced_program(segments, output); });
  const std::vector<std::string> arguments{"--autostart", "--dir", segments.path()};
  for (int kills = 0; kills < 6; ++kills) {
    CollectorProgram collector(arguments, outputs / "log");
    usleep(random() % 20'000);
    collector.signal(SIGKILL);
    collector.wait();
  }
  CollectorProgram last({"--dir", segments.path()}, outputs / "log");
  CHECK(wait_for(program) == 0);
  last.signal(SIGTERM);
  CHECK(last.wait().code == 0);
  const Trace trace = read_trace(output);
  CHECK(what_is_wrong(trace) == "");
  const auto pid = static_cast<std::uint32_t>(program);
  CHECK(trace.serials()[{pid, 1}] == up_to(kRecords));
  CHECK(trace.serials()[{pid, 2}] == up_to(kRecords));
  CHECK(trace.definitions()[1] == up_to(kDefinitions));
  CHECK(trace.trailer().processes == 1);
  CHECK(list(segments.path()) == std::vector<std::string>{"collector.lock"});
}

constexpr std::uint32_t kEnded = 3;

// Makes a session of three ended processes, with definitions, full and open chunks, and of this process,
// which is alive.
void make_processes(const TemporaryDirectory& segments, const std::string& output) {
  SegmentPlan plan;
  plan.directory = segments.path();
  plan.output = output;
  plan.session_pid = 1;
  plan.session_start_time = 1;
  plan.chunk_bytes = 1024;
  for (std::uint32_t i = 0; i <= kEnded; ++i) {
    std::tie(plan.pid, plan.start_time) = i < kEnded ? dead_process() : std::pair{0u, std::uint64_t{0}};
    SegmentWriter segment(plan);
    ThreadWriter thread(segment, 0, 1);
    for (std::uint64_t id = 1; id <= 3; ++id) segment.define(id, "Op", thread.next_ticks());
    for (std::uint64_t serial = 1; serial <= 1000; ++serial) thread.record(serial);
    if (i == kEnded) thread.flush();
  }
}

void check_processes(const Trace& trace) {
  CHECK(what_is_wrong(trace) == "");
  CHECK(trace.count(FrameType::process_end) == kEnded);
  CHECK(trace.serials().size() == kEnded + 1);
  for (const auto& [stream, serials] : trace.serials()) CHECK(serials == up_to(1000));
  for (const auto& [process, ids] : trace.definitions()) CHECK(ids == up_to(3));
  CHECK(trace.definitions().size() == kEnded + 1);
}

}  // namespace

TEST_CASE("killed right before and right after each of its writes") {
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
      check_processes(read_trace(output));
      if (!*killed) {
        CHECK(nth > 5);  // the collector must make writes at which it can be killed
        break;
      }
    }
}

TEST_CASE("killed at random moments, fifty times over") {
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    run_with_kills(seed);
  }
}
