// A snapshot becomes a sample with the program's stack, cut at the operation, and with its Python calls.
#include <doctest/doctest.h>
#include <signal.h>

#include <cstring>

#include "support/collector_run.hpp"
#include "support/sample_reader.hpp"
#include "support/snapshots.hpp"
#include "support/temporary.hpp"

// The function is interrupted at this instruction.
#define AT_ITS_END "int3"
#include "../programs/native/at_its_end.c"

using namespace lotus;
using namespace lotus::test;

namespace {

// Keeps the call before it from becoming a tail call.
#define LOTUS_NOT_LAST asm volatile("" ::: "memory")

std::uint64_t middle_address, outer_address;

extern "C" [[gnu::noinline]] void lotus_test_inner(SnapshotParts& parts) {
  parts = snapshot_here();
  LOTUS_NOT_LAST;
}
extern "C" [[gnu::noinline]] void lotus_test_middle(SnapshotParts& parts) {
  const volatile char here = 0;
  middle_address = reinterpret_cast<std::uint64_t>(&here);
  lotus_test_inner(parts);
  LOTUS_NOT_LAST;
}
extern "C" [[gnu::noinline]] void lotus_test_outer(SnapshotParts& parts) {
  const volatile char here = 0;
  outer_address = reinterpret_cast<std::uint64_t>(&here);
  lotus_test_middle(parts);
  LOTUS_NOT_LAST;
}

// A snapshot with the three functions above and, unless it is cut, their callers.
SnapshotParts nested_snapshot() {
  SnapshotParts parts;
  lotus_test_outer(parts);
  parts.header.op = 7;
  return parts;
}

extern "C" void with_a_frame();

SnapshotParts interrupted;

extern "C" [[gnu::noinline]] void lotus_test_interrupts() {
  interrupted.stack.resize(kMaxStackBytes);
  struct sigaction action {};
  struct sigaction before {};
  action.sa_sigaction = [](int, siginfo_t*, void* context) {
    take_snapshot(*static_cast<const ucontext_t*>(context), interrupted);
  };
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  with_a_frame();
  sigaction(SIGTRAP, &before, nullptr);
}

// Collects these snapshot payloads, with the modules of this process defined, and returns the samples.
std::vector<Sample> samples_of(const std::vector<std::vector<std::uint8_t>>& payloads,
                               ProcessEndFrame* end = nullptr) {
  const TemporaryDirectory segments;
  const TemporaryDirectory outputs;
  SegmentPlan plan;
  plan.directory = segments.path();
  plan.output = outputs / "x.lotus";
  std::tie(plan.pid, plan.start_time) = dead_process();
  SegmentWriter segment(plan);
  ModuleTeller().tell(segment, 10);
  push_definition<Kind::code>(segment, 10, 1u, "Resize.forward", "transforms.py", 12u);
  push_definition<Kind::code>(segment, 10, 2u, "Compose.__call__", "transforms.py", 50u);
  std::uint64_t ticks = 100;
  for (const auto& payload : payloads) REQUIRE(push_snapshot(segment, payload, ticks++));
  segment.header().lost_snapshots = 3;
  CHECK(drain(segments.path()).code == 0);
  const Trace trace = read_trace(plan.output);
  CHECK(what_is_wrong(trace) == "");
  for (const Frame& frame : trace.frames)
    if (end != nullptr && frame.header.type == FrameType::process_end)
      std::memcpy(end, frame.body.data(), sizeof *end);
  return read_samples(trace);
}

}  // namespace

TEST_CASE("the functions of a snapshot, innermost first") {
  const auto samples = samples_of({nested_snapshot().bytes()});
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].innermost(3) == "lotus_test_inner < lotus_test_middle < lotus_test_outer");
  CHECK(samples[0].op == 7);
  CHECK(samples[0].ticks == 100);
  CHECK(samples[0].process == 1);
  CHECK(samples[0].weight == 1);
}

TEST_CASE("frames outside of the operation's entry are left out, and nothing counts as cut") {
  SnapshotParts parts = nested_snapshot();
  parts.end_at(reinterpret_cast<const void*>(middle_address));
  const auto samples = samples_of({parts.bytes()});
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].innermost(9) == "lotus_test_inner");
  CHECK(samples[0].flags == 0);
}

TEST_CASE("a stack that was not copied up to the operation's entry keeps the frames that were") {
  SnapshotParts parts = nested_snapshot();
  const std::uint64_t copied = middle_address - parts.header.stack_start;
  parts.stack.resize(copied);
  parts.header.entry = outer_address + 4096;
  parts.header.flags = kCutStack;
  const auto samples = samples_of({parts.bytes()});
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].innermost(9) == "lotus_test_inner < lotus_test_middle");
  CHECK(samples[0].flags == kCutStack);
}

TEST_CASE("a function that has taken its caller's registers off the stack already") {
  lotus_test_interrupts();
  auto samples = samples_of({interrupted.bytes()});
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].innermost(3) == "at_its_end < with_a_frame < lotus_test_interrupts");
  CHECK(samples[0].flags == 0);
  // A red zone in another page than the stack pointer is not copied. Then the caller is not guessed.
  const std::uint64_t below =
      interrupted.registers[kOwnRegisters.stack_pointer] - interrupted.header.stack_start;
  interrupted.header.stack_start += below;
  interrupted.stack.erase(interrupted.stack.begin(),
                          interrupted.stack.begin() + static_cast<std::ptrdiff_t>(below));
  samples = samples_of({interrupted.bytes()});
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].innermost(9) == "at_its_end < with_a_frame");
  CHECK(samples[0].flags == kCutUnwind);
}

TEST_CASE("a Python call stands outside of the native frames that lie below it") {
  SnapshotParts parts = nested_snapshot();
  parts.python = {{middle_address, 1, 0}, {outer_address, 2, 0}};
  const auto samples = samples_of({parts.bytes()});
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].innermost(5) ==
        "lotus_test_inner < Resize.forward < lotus_test_middle < Compose.__call__ < lotus_test_outer");
  CHECK(samples[0].frames[1].source == NameSource::python);
  CHECK(samples[0].frames[1].binary == "");
}

TEST_CASE("a Python function that nobody defined is unknown by name, not left out") {
  SnapshotParts parts = nested_snapshot();
  parts.python = {{middle_address, 99, 0}};
  const auto samples = samples_of({parts.bytes()});
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].innermost(3) == "lotus_test_inner < [unknown Python function] < lotus_test_middle");
}

TEST_CASE("equal stacks are stored once, whatever thread they are of") {
  const SnapshotParts parts = nested_snapshot();
  SnapshotParts other = parts;
  other.header.tid += 1;
  other.header.op = 8;
  other.header.weight = 5;
  other.header.flags = kOnBehalf;
  const auto samples = samples_of({parts.bytes(), other.bytes()});
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].innermost(99) == samples[1].innermost(99));
  CHECK(samples[1].tid == samples[0].tid + 1);
  CHECK(samples[1].op == 8);
  CHECK(samples[1].weight == 5);
  CHECK((samples[1].flags & kOnBehalf) != 0);
  CHECK((samples[0].flags & kOnBehalf) == 0);
}

TEST_CASE("code that is in no module is one unknown function and ends the stack") {
  SnapshotParts parts = nested_snapshot();
  parts.registers[kOwnRegisters.program_counter] = 0x1234;
  const auto samples = samples_of({parts.bytes()});
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].innermost(9) == "[unknown]");
  CHECK((samples[0].flags & kCutUnwind) != 0);
}

TEST_CASE("lost and unusable snapshots are counted, those behind them are read") {
  auto torn = nested_snapshot().bytes();
  torn.resize(torn.size() - 1);
  ProcessEndFrame end{};
  const auto samples = samples_of({{1, 2, 3}, torn, nested_snapshot().bytes()}, &end);
  CHECK(samples.size() == 1);
  CHECK(end.lost_snapshots == 3);
  CHECK(end.damaged == 2);
}
