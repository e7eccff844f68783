#include "record/counts.hpp"

#include "counters/perf_events.hpp"

namespace lotus {
namespace {

// Of a slot of the segment; memory is touched where something is counted only.
struct SlotCounts {
  ThreadEvents events;
  Counts begun[kMaxSpans];  // by depth
};
constinit SlotCounts slots[kMaxSlots] = {};

SlotCounts& slot_of(const Thread& thread) { return slots[&thread - &thread_of(0)]; }

std::uint64_t owner_of(const Thread& thread) {
  return std::uint64_t{process.generation} << 32 | thread.slot->stream;
}

// Where its group was on for all the time, no times stand.
void write_count(Thread& thread, std::uint64_t now, std::size_t counter, const Counts& from,
                 const Counts& to) {
  const ThreadEvents& events = slot_of(thread).events;
  GroupTimes times{};
  if (const std::uint32_t group = events.group_of[counter]; group < kMaxGroups)
    times = {to.times[group].enabled - from.times[group].enabled,
             to.times[group].running - from.times[group].running};
  if (times.enabled == times.running) times = {};
  detail::make_room(thread);
  detail::append<Kind::count>(thread, now, counter + 1, counted(events, counter, from, to), times.enabled,
                              times.running);
}

}  // namespace

void begin_counts(const Thread& thread, std::uint32_t depth) {
  SlotCounts& slot = slot_of(thread);
  if (depth < kMaxSpans) read_counts(slot.events, owner_of(thread), Edge::begin, slot.begun[depth]);
}

void write_counts(Thread& thread, std::uint64_t now) {
  SlotCounts& slot = slot_of(thread);
  if (slot.events.owner != owner_of(thread)) return;
  Counts ended;
  read_counts(slot.events, slot.events.owner, Edge::end, ended);
  const Counts& begun = slot.begun[thread.depth - 1];
  for (std::size_t i = 0; i < wanted_counters.count; ++i)
    if ((begun.known & ended.known) >> i & 1) write_count(thread, now, i, begun, ended);
}

void forget_counts() {
  if (!counters_on) return;
  for (SlotCounts& slot : slots)
    if (slot.events.owner != 0) close_events(slot.events);
}

}  // namespace lotus
