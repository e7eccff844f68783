// The open chunk of a thread that records: records are encoded into it, and it is handed on when it is full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lotus/field.hpp>

#include "record/native_totals.hpp"
#include "record/process.hpp"

namespace lotus {

// Room that every record of enter(), leave() and point<>() fits in; paths are cut to kMaxPath.
inline constexpr std::size_t kMaxPath = 1024;
inline constexpr std::size_t kRecordRoom = kMaxPath + 128;
inline constexpr std::uint32_t kMaxSpans = 64;  // nesting; deeper spans are counted, not recorded

struct alignas(64) OpenSpan {
  Kind kind;
  bool cpu_measured;
  bool counted;                          // see record/counts.hpp
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
  std::uint32_t opened_bytes;    // a file that C code opened for the sample, not recorded yet, is in `opened`
  std::uintptr_t opened_handle;  // of the file that was opened last, see record/reopened.hpp; 0: none
  NativeTotals native;           // begins in the first line
  OpenSpan spans[kMaxSpans];
  std::uint64_t chunk_start;  // ticks
  std::uint32_t path_bytes;
  char path[kMaxPath];  // the chunk's previous path
  char opened[kMaxPath];
};
static_assert(offsetof(Thread, native) + sizeof(std::uint32_t) <= 64);

// The recorder that belongs to a slot of the segment.
Thread& thread_of(std::uint32_t slot);

// Begins an empty chunk, with the spans that are open.
void start_chunk(Thread& thread);

// What is recorded next began at `ticks`, before this thread recorded anything. Without effect if it did.
void begin_earlier(Thread& thread, std::uint64_t ticks);

// Hands the open chunk on and starts a new one.
void flush(Thread& thread);

// Hands on what a thread that is gone left in its slot.
void flush_abandoned(std::uint32_t slot);

// Hands the open chunk on if what it holds is more than a second, so that a trace can be followed while it
// grows.
void flush_old(Thread& thread);

// Hands the open chunk on where the thread comes to rest at `now`, in ticks: the program may do something
// else for hours, as a notebook's kernel, and its trace is to be looked at now.
void flush_at_rest(Thread& thread, std::uint64_t now);

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

}  // namespace detail
}  // namespace lotus
