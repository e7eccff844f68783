// A stack snapshot: a copy of a thread's stack, taken each time that its CPU clock has run for one period,
// and after a call that waited for long. Written by the traced thread, in a signal handler or where the call
// returned, unwound and named by the collector.
//
//   RingRecord(kind snapshot, codec raw, base_ticks: the time, stream: 0 if the thread records nothing)
//   SnapshotHeader  registers, 8 bytes each (machine.hpp)  PythonFrame × python_frames
//   stack bytes from stack_start upwards
//   with kCarriesCounts: their number, 8 bytes, and so many SnapshotCount
#pragma once

#include <cstddef>
#include <cstdint>
#include <lotus/counters.hpp>
#include <lotus/machine.hpp>

namespace lotus {

// The red zone: the bytes below the stack pointer that a function may use. At a function's end, the saved
// registers of its caller lie there: they are popped already, but the unwind entry still refers to them.
inline constexpr std::uint32_t kRedZoneBytes = 128;
inline constexpr std::uint32_t kMaxStackBytes = 16 * 1024;     // copied while an operation runs, at most
inline constexpr std::uint32_t kMaxIdleStackBytes = 4 * 1024;  // … while none does
inline constexpr std::uint32_t kMaxPythonFrames = 64;          // innermost ones

// stack_sample.flags, off_cpu.flags and SnapshotHeader::flags.
inline constexpr std::uint32_t kOnBehalf =
    1;  // a thread without operations, while just one other thread ran `op`
inline constexpr std::uint32_t kCutStack = 2;   // the stack up to `entry` did not fit
inline constexpr std::uint32_t kCutUnwind = 4;  // unwinding stopped before `entry`; the frames found are kept
inline constexpr std::uint32_t kMakesBatch = 8;        // … whatever the stack shows of it
inline constexpr std::uint32_t kTellsCollecting = 16;  // a batch is being made, with the next flag …
inline constexpr std::uint32_t kCollecting = 32;       // … in Python's garbage collector
inline constexpr std::uint32_t kCarriesCounts = 64;    // SnapshotHeader::flags only

struct SnapshotHeader {
  std::uint32_t tid;
  std::uint32_t op;  // op_def id of the innermost operation that is open, 0 none
  std::uint32_t flags;
  std::uint32_t weight;  // periods that this snapshot stands for: 1 + those that passed while it was pending
  std::uint64_t entry;   // frames whose CFA is above this stack address are outside of `op`; 0: no limit
  std::uint64_t stack_start;  // where the red zone begins, or, if that is later, the stack pointer's page
  std::uint32_t stack_bytes;
  std::uint32_t python_frames;
  std::uint64_t waited;  // ticks off the CPU that end here; 0: a sample of CPU time
  std::uint64_t caller;  // frames whose CFA is not above this stack address are the recorder's own; 0: none
  std::uint32_t hook;    // definition `hook` of what waited; 0: a sample of CPU time
  Machine machine;
};
static_assert(sizeof(SnapshotHeader) == 64);

// A Python function being evaluated, innermost first. Its native frames (the evaluator's and what it called)
// lie below `address`, or …
struct PythonFrame {
  std::uint64_t address;
  std::uint32_t code;  // definition `code`
  std::uint32_t flags;
};
// … `address` is in the evaluator's own frame: it runs several functions, which have the same address.
inline constexpr std::uint32_t kInEvaluator = 1;
static_assert(sizeof(PythonFrame) == 16);

// What a counter counted in the thread since its last snapshot that carries counts, as a record `count` has
// it. Not aligned.
struct SnapshotCount {
  std::uint64_t counter, value, enabled, running;
};
static_assert(sizeof(SnapshotCount) == 32);
inline constexpr std::uint32_t kMaxCountBytes = sizeof(std::uint64_t) + kMaxCounters * sizeof(SnapshotCount);

}  // namespace lotus
