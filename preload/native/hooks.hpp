// Native entry points: which there are, and how a call of one is counted.
//
// A hook adds to its thread's totals and touches nothing else: no record is written, nothing is looked up
// and nothing defined before the span is left (write_native). Nothing is held across the real call, so an
// exception, a longjmp or a cancellation that passes through leaves no trace: such a call is counted, its
// time is not.
#pragma once

#include "record/hook_names.hpp"
#include "record/recorder.hpp"

namespace lotus {

constexpr bool counts_native(Kind kind) {
  return kind == Kind::op || kind == Kind::sample || kind == Kind::samples || kind == Kind::fetch;
}

// This thread's recorder while its innermost open span is one of the pipeline; else nullptr.
inline Thread* counting_thread() {
  Thread* thread = this_thread.recorder;
  if (thread == nullptr) [[likely]]
    return nullptr;
  if (process.off || this_thread.generation != process.generation || thread->depth == 0) return nullptr;
  return counts_native(thread->spans[thread->depth - 1].kind) ? thread : nullptr;
}

// A call that was counted and goes on.
struct OpenCall {
  NativeTotal* total;  // nullptr: there was no room
  TotalKey key;
};

// Counts a call that is about to be made …
inline OpenCall count_call(Thread& thread, HookId hook) {
  NativeTotal* const total = thread.native.of(hook, thread.depth);
  if (total != nullptr) ++total->calls;
  return {total, total_key(hook, thread.depth)};
}

// Whether the span for which it was counted is this thread's innermost one, and its total still there.
inline bool still_counts(const OpenCall& call) {
  const Thread* thread = this_thread.recorder;  // a forked child has none, or one of its own
  return call.total != nullptr && thread != nullptr && thread->depth == depth_in(call.key) &&
         thread->native.holds(call.total, call.key);
}

// … and what it took and moved, once it has returned. Where other spans are open now (it forked, or was
// abandoned), nothing is added.
inline void count_return(const OpenCall& call, std::uint64_t ticks, std::uint64_t bytes) {
  if (!still_counts(call)) return;
  call.total->ticks += ticks;
  call.total->bytes += bytes;
}

// Calls and times what was counted.
template <class Call>
[[gnu::always_inline]] inline auto timed(const OpenCall& open, Call&& call) {
  const std::uint64_t begin = ticks_now();
  const auto result = call();
  count_return(open, ticks_now() - begin, 0);
  return result;
}
// Counts it before.
template <class Call>
[[gnu::always_inline]] inline auto timed(Thread& thread, HookId hook, Call&& call) {
  return timed(count_call(thread, hook), call);
}

}  // namespace lotus
