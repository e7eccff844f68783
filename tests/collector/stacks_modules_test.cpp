// Modules that are loaded late, unloaded, or without unwind information at the interrupted instruction.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "support/collector_run.hpp"
#include "support/sample_reader.hpp"
#include "support/snapshots.hpp"
#include "support/temporary.hpp"

using namespace lotus;
using namespace lotus::test;

namespace {

SnapshotParts taken;

extern "C" void lotus_test_take() {
  taken = snapshot_here(4096);
  asm volatile("" ::: "memory");
}

ucontext_t trapped;
std::array<std::uint8_t, 1024> trapped_stack;

// A signal handler: it may only copy.
void on_trap(int, siginfo_t*, void* context) {
  std::memcpy(&trapped, context, sizeof trapped);
  const iovec to{trapped_stack.data(), trapped_stack.size()};
  const iovec from{reinterpret_cast<void*>(trapped.uc_mcontext.gregs[REG_RSP]), trapped_stack.size()};
  syscall(SYS_process_vm_readv, getpid(), &to, 1L, &from, 1L, 0L);
}

// Makes a library with a function of this name that calls its argument.
std::string make_library(const TemporaryDirectory& place, const std::string& function) {
  const std::string source = place / (function + ".c");
  const std::string library = place / (function + ".so");
  write_text(source,
             "void " + function + "(void (*f)(void)) { f(); __asm__ volatile(\"\" ::: \"memory\"); }\n");
  const std::string command = LOTUS_TEST_CC " -O2 -shared -fPIC -Wl,--build-id -o " + library + " " + source;
  REQUIRE(std::system(command.c_str()) == 0);
  return library;
}

// Makes a library with an assembly function that pushes a word and traps, and has no unwind information.
std::string make_assembly_library(const TemporaryDirectory& place) {
  const std::string source = place / "leaf.s";
  const std::string library = place / "leaf.so";
  write_text(
      source,
      ".text\n.globl bare_leaf\n.type bare_leaf,@function\nbare_leaf:\n push %rbx\n int3\n pop %rbx\n ret\n"
      ".size bare_leaf,.-bare_leaf\n.section .note.GNU-stack,\"\",@progbits\n");
  const std::string command = LOTUS_TEST_CC " -shared -nostdlib -Wl,--build-id -o " + library + " " + source;
  REQUIRE(std::system(command.c_str()) == 0);
  return library;
}

void* load(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW);
  REQUIRE(handle != nullptr);
  return handle;
}

void call(void* handle, const std::string& function) {
  const auto called = reinterpret_cast<void (*)(void (*)())>(dlsym(handle, function.c_str()));
  REQUIRE((called != nullptr));
  called(lotus_test_take);
}

struct Place {
  TemporaryDirectory segments, files;
  std::string output = files / "x.lotus";

  SegmentPlan plan(bool dead) const {
    SegmentPlan plan;
    plan.directory = segments.path();
    plan.output = output;
    if (dead) std::tie(plan.pid, plan.start_time) = dead_process();
    return plan;
  }
  std::vector<Sample> samples() const {
    CHECK(drain(segments.path()).code == 0);
    return read_samples(read_trace(output));
  }
};

}  // namespace

TEST_CASE("a library that was unloaded, and another one where it was") {
  const Place place;
  SegmentWriter segment(place.plan(true));
  ModuleTeller modules;
  const std::string one = make_library(place.files, "first_function");
  const std::string two = make_library(place.files, "second_function");
  modules.tell(segment, 1);
  std::uint64_t ticks = 100;
  std::vector<std::uint64_t> addresses;
  for (int round = 0; round < 3; ++round)
    for (const std::string& library : {one, two}) {
      void* handle = load(library);
      modules.tell(segment, ticks += 10);
      call(handle, library == one ? "first_function" : "second_function");
      addresses.push_back(taken.registers[kOwnRegisters.program_counter]);
      REQUIRE(push_snapshot(segment, taken.bytes(), ticks += 10));
      dlclose(handle);
      modules.tell(segment, ticks += 10);
    }
  const auto samples = place.samples();
  REQUIRE(samples.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(samples[i].innermost(2) ==
          (i % 2 == 0 ? "lotus_test_take < first_function" : "lotus_test_take < second_function"));
    CHECK(samples[i].frames.size() > 2);
  }
}

TEST_CASE("a library whose definition comes after the snapshot") {
  const Place place;
  const std::string library = make_library(place.files, "late_function");
  SegmentWriter segment(place.plan(false));
  ModuleTeller modules;
  modules.tell(segment, 1);
  CollectorProgram collector({"--dir", place.segments.path()}, place.files / "log");
  void* handle = load(library);
  call(handle, "late_function");
  REQUIRE(push_snapshot(segment, taken.bytes(), 100));
  modules.tell(segment, 200);
  // The snapshot was read together with the definitions behind it.
  CHECK(eventually([&] { return segment.ring(kStackRing).tail == segment.ring(kStackRing).head; }));
  collector.signal(SIGTERM);
  CHECK(collector.wait().code == 0);
  dlclose(handle);
  const auto samples = read_samples(read_trace(place.output));
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].innermost(2) == "lotus_test_take < late_function");
}

TEST_CASE("code that nobody defines holds up the samples behind it for a moment only") {
  const Place place;
  SegmentWriter segment(place.plan(false));
  ModuleTeller().tell(segment, 1);
  CollectorProgram collector({"--dir", place.segments.path()}, place.files / "log");
  lotus_test_take();
  for (std::uint64_t i = 0; i < 20; ++i) {
    SnapshotParts parts = taken;
    parts.stack.resize(1024);
    if (i % 2 == 0) parts.registers[kOwnRegisters.program_counter] = 0x10000 + i * 4096;
    REQUIRE(push_snapshot(segment, parts.bytes(), 100 + i));
  }
  CHECK(eventually([&] { return segment.ring(kStackRing).tail == segment.ring(kStackRing).head; }));
  collector.signal(SIGTERM);
  CHECK(collector.wait().code == 0);
  const auto samples = read_samples(read_trace(place.output));
  REQUIRE(samples.size() == 20);
  for (std::size_t i = 0; i < 20; ++i)
    CHECK(samples[i].innermost(1) == (i % 2 == 0 ? "[unknown]" : "lotus_test_take"));
}

TEST_CASE("an assembly function without unwind information keeps its place, its callers are cut off") {
  const Place place;
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  struct sigaction before {};
  sigaction(SIGTRAP, &action, &before);
  void* handle = load(make_assembly_library(place.files));
  reinterpret_cast<void (*)()>(dlsym(handle, "bare_leaf"))();
  sigaction(SIGTRAP, &before, nullptr);
  taken = snapshot_of(trapped);
  taken.stack.assign(trapped_stack.begin(), trapped_stack.end());
  SegmentWriter segment(place.plan(true));
  ModuleTeller().tell(segment, 1);
  REQUIRE(push_snapshot(segment, taken.bytes(), 100));
  const auto samples = place.samples();
  dlclose(handle);
  REQUIRE(samples.size() == 1);
  CHECK(samples[0].innermost(9) == "bare_leaf");
  CHECK(samples[0].flags == kCutUnwind);
  CHECK(samples[0].frames[0].binary == place.files / "leaf.so");
}
