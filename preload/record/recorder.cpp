#include "record/recorder.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "record/counts.hpp"
#include "record/hook_names.hpp"
#include "record/native_records.hpp"

namespace lotus {
namespace {

bool is_innermost(const Span& span) {
  return span.depth != Span::kNone && this_thread.recorder != nullptr &&
         this_thread.recorder->depth == span.depth + 1;
}

}  // namespace

std::uint64_t measure_pair_ps() {
  // On average, the first ones in cold caches, as in programs. Another program's turn, which the median does
  // not see, would multiply the price.
  constexpr std::uint64_t kTries = 9, kPairs = 111;
  static constinit std::uint8_t scratch[kPairs * 16 + kRecordRoom] = {};
  static constinit ThreadSlot slot{};
  static constinit Thread thread{};
  thread.slot = &slot;
  thread.chunk = scratch;
  thread.limit = scratch + kPairs * 16;
  Thread* const mine = this_thread.recorder;
  this_thread.recorder = &thread;
  std::uint64_t elapsed_ns[kTries];
  for (std::uint64_t& elapsed : elapsed_ns) {
    thread.cursor = scratch;
    thread.last = ticks_now();
    const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
    for (std::uint64_t pair = 0; pair < kPairs; ++pair) leave(enter<Kind::op>(std::uint32_t{1}), Kind::leave);
    elapsed = clock_ns(CLOCK_MONOTONIC) - begin;
  }
  this_thread.recorder = mine;
  std::sort(std::begin(elapsed_ns), std::end(elapsed_ns));
  const std::uint64_t mean = std::accumulate(elapsed_ns, elapsed_ns + kTries, std::uint64_t{0}) / kTries;
  return std::min(mean, elapsed_ns[kTries / 2] * 3 / 2) * 1000 / kPairs;
}

void forget_parent() {
  ++process.generation;
  process.worker = false;
  forget_hooks();
  forget_counts();
  forget_segment(process.segment);
  this_thread = ThisThread{};
}

void close_at(const Span& span, Kind kind, std::uint64_t now) {
  // The parent's span seen from a forked child, or a thread that lost its recorder: not ours to close.
  if (span.generation != process.generation || process.off || this_thread.recorder == nullptr) return;
  Thread& thread = *this_thread.recorder;
  if (thread.depth <= span.depth) return;
  while (thread.depth > span.depth + 1) {
    write_native(thread, now);
    detail::make_room(thread);
    --thread.depth;
    detail::append<Kind::leave_lost>(thread, now);
  }
  write_native(thread, now);
  const auto& open = thread.spans[thread.depth - 1];
  if (open.counted) [[unlikely]]
    end_counts(thread);
  const std::uint64_t used = open.cpu_measured ? cpu_ns() - open.cpu_start : 0;
  if (open.counted) [[unlikely]]
    write_counts(thread, now);
  detail::make_room(thread);
  --thread.depth;
  if (open.cpu_measured) [[unlikely]]
    detail::append<Kind::cpu>(thread, now, used);
  switch (kind) {
    case Kind::leave_error:
      detail::append<Kind::leave_error>(thread, now);
      break;
    case Kind::leave_empty:
      detail::append<Kind::leave_empty>(thread, now);
      break;
    default:
      detail::append<Kind::leave>(thread, now);
      break;
  }
}

void measure_cpu(const Span& span, std::uint64_t start) {
  if (!is_innermost(span)) return;
  auto& open = this_thread.recorder->spans[span.depth];
  open.cpu_measured = true;
  open.cpu_start = start;
}

void begin_counting() {
  if (const Thread* thread = current_thread()) begin_counts(*thread, thread->depth);
}

void count_in(const Span& span) {
  if (is_innermost(span)) this_thread.recorder->spans[span.depth].counted = true;
}

void count_from_here(const Span& span) {
  if (!is_innermost(span)) return;
  begin_counts(*this_thread.recorder, span.depth);
  count_in(span);
}

void mark_entry(const Span& span, std::uintptr_t entry) {
  if (!is_innermost(span)) return;
  this_thread.recorder->spans[span.depth].entry = entry;
}

OpenOperation innermost_operation(const Thread& thread) {
  for (std::uint32_t depth = __atomic_load_n(&thread.depth, __ATOMIC_ACQUIRE); depth-- > 0;)
    if (thread.spans[depth].kind == Kind::op)
      return {static_cast<std::uint32_t>(field<Kind::op, "def">(thread.spans[depth].fields)),
              thread.spans[depth].entry};
  return {};
}

std::uint32_t only_open_operation() {
  std::uint32_t found = 0;
  const std::uint32_t slots = process.segment.header->slot_count;
  for (std::uint32_t i = 0; i < slots && i < kMaxSlots; ++i) {
    const std::uint32_t open = innermost_operation(thread_of(i)).definition;
    if (open != 0 && found != 0) return 0;
    if (open != 0) found = open;
  }
  return found;
}

}  // namespace lotus
