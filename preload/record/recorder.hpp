// Recording: spans and points of one thread into its open chunk in shared memory.
//
// The hot path is enter() and leave(): one clock read, one encoded record, one release store. A full
// chunk is compressed by the thread that filled it, into the process's outgoing ring; nothing here
// allocates, locks, waits or calls into the target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lotus/codec.hpp>

#include "counters/wanted.hpp"
#include "record/chunk.hpp"
#include "record/definition_ring.hpp"
#include "record/this_thread.hpp"
#include "system/clock.hpp"

namespace lotus {

// What leave() needs to know which span it closes.
struct Span {
  std::uint32_t generation = 0;
  std::uint32_t depth = 0;  // spans open before it; kNone: it was not recorded
  static constexpr std::uint32_t kNone = ~0u;
};

// What an Enter/Leave pair costs in this process, in picoseconds: measured on a scratch chunk.
std::uint64_t measure_pair_ps();

// Called in the child of a fork: it makes its own segment at its next event.
void forget_parent();

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
  open.cpu_measured = open.counted = false;
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

// Two reads of the counters, out of all caches: 18 µs.
inline constexpr std::uint64_t kCountsTicks = 3000;

// Reads the counters for the span that this thread opens next: count_in() it then.
void begin_counting();
// leave() of this span, which is the innermost, will record what was counted since begin_counting().
void count_in(const Span& span);
// … since now.
void count_from_here(const Span& span);

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

// Sends a definition at once. False: no room now; try again at the next use.
template <Kind K, class... Values>
bool define(const Values&... values) {
  return current_thread() != nullptr && send<K>(values...);
}

}  // namespace lotus
