// Recording: spans and points of one thread into its open chunk in shared memory.
//
// The hot path is enter() and leave(): one clock read, one encoded record, one release store. A full
// chunk is compressed by the thread that filled it, into the process's outgoing ring; nothing here
// allocates, locks, waits or calls into the target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lotus/field.hpp>

#include "clock.hpp"
#include "native/totals.hpp"
#include "segment_file.hpp"

namespace lotus {

// Room that every record of enter(), leave() and point<>() fits in; paths are cut to kMaxPath.
inline constexpr std::size_t kMaxPath = 1024;
inline constexpr std::size_t kRecordRoom = kMaxPath + 128;
inline constexpr std::uint32_t kMaxSpans = 64;  // nesting; deeper spans are counted, not recorded

struct alignas(64) OpenSpan {
  Kind kind;
  bool cpu_measured;
  std::uint64_t fields[kMaxSpanFields];  // coded
  std::uint64_t start;                   // ticks
  std::uint64_t cpu_start;               // ns, if cpu_measured
  std::uintptr_t entry;                  // op: the stack address below which its frames lie, 0 unknown
};

// A thread that records. Lives in static storage, one per slot of the segment. What each record needs stands
// in its first line of memory, what a span needs in the next ones.
struct alignas(64) Thread {
  std::uint8_t* cursor;  // end of the open chunk's records
  std::uint8_t* limit;   // flush when the cursor is past it
  std::uint8_t* chunk;
  std::uint64_t last;  // time of the last record, ticks
  ThreadSlot* slot;
  std::uint32_t depth;
  std::uint32_t opened_bytes;  // a file that C code opened for the sample, not recorded yet, is in `opened`
  NativeTotals native;         // begins in the first line
  OpenSpan spans[kMaxSpans];
  std::uint64_t chunk_start;  // ticks
  std::uint32_t path_bytes;
  char path[kMaxPath];  // the chunk's previous path
  char opened[kMaxPath];
};
static_assert(offsetof(Thread, native) + sizeof(std::uint32_t) <= 64);

// Thread-local state. Trivially destructible: threads may end in any way.
struct Local {
  Thread* thread;            // nullptr: nothing recorded yet, or no slot was free
  std::uint32_t generation;  // of `thread`; a fork makes it stale
  bool refused;              // no slot was free for this thread
};
extern constinit thread_local Local local;

struct Process {
  std::uint32_t generation;  // counts forks; spans opened before one are not closed after it
  bool off;                  // sticky: nothing is recorded any more
  bool worker;               // a DataLoader worker
  int pid;                   // as getpid() says; a child of vfork has another one and shares all this
  Segment segment;
};
extern Process process;

// What leave() needs to know which span it closes.
struct Span {
  std::uint32_t generation = 0;
  std::uint32_t depth = 0;  // spans open before it; kNone: it was not recorded
  static constexpr std::uint32_t kNone = ~0u;
};

// This thread's recorder, made at its first event. nullptr: off, or no room.
Thread* acquire_thread();

inline Thread* current_thread() {
  if (local.thread != nullptr && local.generation == process.generation && !process.off) [[likely]]
    return local.thread;
  return acquire_thread();
}

// Hands the open chunk on and starts a new one.
void flush(Thread& thread);

// Called where a batch ends: hands the open chunk on if it is older than a second, so that a trace can be
// followed while it grows, and looks for new threads.
void end_batch(Thread& thread);

// Called where a thread comes to rest: an epoch is over, no task came for seconds. Hands the open chunk on,
// since the program may do something else for hours, as a notebook's kernel, and its trace is to be looked at
// now.
void rest(Thread& thread);

// Stops recording in this process for good.
void switch_off(OffReason reason, const char* line);

// What an Enter/Leave pair costs in this process, in picoseconds: measured on a scratch chunk.
std::uint64_t measure_pair_ps();

// Called in the child of a fork.
void forget_parent();

namespace detail {

template <Kind K, class... Values>
inline void append(Thread& thread, std::uint64_t now, Values... values) {
  thread.cursor = encode<K>(thread.cursor, now > thread.last ? now - thread.last : 0, values...);
  if (now > thread.last) thread.last = now;
  ++thread.slot->events;
  __atomic_store_n(&thread.slot->used, static_cast<std::uint32_t>(thread.cursor - thread.chunk),
                   __ATOMIC_RELEASE);
}

inline void make_room(Thread& thread) {
  if (thread.cursor > thread.limit) [[unlikely]]
    flush(thread);
}

void drop_span();

}  // namespace detail

// Opens a span. `now`: its start; leave it out for the present.
template <Kind K, class... Values>
inline Span enter_at(Thread& thread, std::uint64_t now, Values... values) {
  static_assert(info(K).shape == Shape::enter);
  const Span span{process.generation, thread.depth};
  if (thread.depth == kMaxSpans) [[unlikely]] {
    detail::drop_span();
    return {process.generation, Span::kNone};
  }
  detail::make_room(thread);
  auto& open = thread.spans[thread.depth];
  open.kind = K;
  open.cpu_measured = false;
  open.start = now;
  open.entry = 0;
  std::size_t i = 0;
  ((open.fields[i] = coded(kFieldsOf<K>.types[i], static_cast<std::uint64_t>(values)), ++i), ...);
  for (; i < kMaxSpanFields; ++i) open.fields[i] = 0;
  __atomic_signal_fence(__ATOMIC_RELEASE);  // the sampler's signal may come between any two lines
  ++thread.depth;
  detail::append<K>(thread, now, values...);
  return span;
}

template <Kind K, class... Values>
inline Span enter(Values... values) {
  Thread* thread = current_thread();
  if (thread == nullptr) return {process.generation, Span::kNone};
  return enter_at<K>(*thread, ticks_now(), values...);
}

// Describes the innermost open span, or an instant.
template <Kind K, class... Values>
inline void point(Values... values) {
  static_assert(info(K).shape == Shape::point);
  Thread* thread = current_thread();
  if (thread == nullptr) return;
  detail::make_room(*thread);
  detail::append<K>(*thread, ticks_now(), values...);
}

// Closes `span` (and, as leave_lost, spans inside it that were abandoned by an exception of C++ or a
// longjmp). `K`: one of the kinds of shape leave.
void close_at(const Span& span, Kind kind, std::uint64_t now);

inline void leave(const Span& span, Kind kind) {
  if (span.depth != Span::kNone) close_at(span, kind, ticks_now());
}

// leave() of this span will record the CPU time of its thread since `start`, what cpu_ns() was where it
// began.
void measure_cpu(const Span& span, std::uint64_t start);

// Stack snapshots of this operation end at the stack address `entry`.
void mark_entry(const Span& span, std::uintptr_t entry);

// For the sampler's signal handler.
struct OpenOperation {
  std::uint32_t definition = 0;  // 0: none is open
  std::uintptr_t entry = 0;
};
OpenOperation innermost_operation(const Thread& thread);
// The definition of the operation that is open in one thread of the process, 0 if none or several have one.
std::uint32_t only_open_operation();

// What native entry points did inside the innermost span, which is about to be left; see native/hooks.cpp.
void write_native(Thread& thread, std::uint64_t now);

// The file of the open sample. Longer paths are cut to kMaxPath bytes.
void record_path(const char* path, std::size_t bytes);

// Records Thread::opened.
void record_opened(Thread& thread, std::uint64_t now);

namespace detail {
bool send_definition(const std::uint8_t* bytes, std::size_t size, std::uint64_t now);
}

// Sends a definition at once, through a ring of its own. False: no room now; try again at the next use.
template <Kind K, class... Values>
bool define(const Values&... values) {
  static_assert(info(K).shape == Shape::definition);
  if (current_thread() == nullptr) return false;
  std::uint8_t bytes[8 * 1024];
  if (encoded_bound<K>(values...) > sizeof bytes) return false;
  const std::uint8_t* end = encode<K>(bytes, 0, values...);
  return detail::send_definition(bytes, static_cast<std::size_t>(end - bytes), ticks_now());
}

}  // namespace lotus
