#include "record/counts.hpp"

#include "counters/perf_events.hpp"

namespace lotus {
namespace {

// Of a slot of the segment; memory is touched where something is counted only.
struct SlotCounts {
  ThreadEvents events;
  Counts begun[kMaxSpans];  // by depth
  Counts sampled;           // at the last sample
  std::uint64_t sampled_owner;
  std::uint64_t switches;  // where the span ended
  bool reading;            // a sampling signal that comes now must not
};
constinit SlotCounts slots[kMaxSlots] = {};

SlotCounts& slot_of(const Thread& thread) { return slots[&thread - &thread_of(0)]; }

std::uint64_t owner_of(const Thread& thread) {
  return std::uint64_t{process.generation} << 32 | thread.slot->stream;
}

class Reading {
 public:
  explicit Reading(SlotCounts& slot) : slot_(slot) {
    slot_.reading = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
  }
  ~Reading() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    slot_.reading = false;
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

 private:
  SlotCounts& slot_;
};

// Where its group was on for all the time, no times stand.
SnapshotCount count_of(const ThreadEvents& events, std::size_t counter, const Counts& from,
                       const Counts& to) {
  GroupTimes times{};
  if (const std::uint32_t group = events.group_of[counter]; group < kMaxGroups)
    times = {to.times[group].enabled - from.times[group].enabled,
             to.times[group].running - from.times[group].running};
  if (times.enabled == times.running) times = {};
  return {counter + 1, counted(events, counter, from, to), times.enabled, times.running};
}

void write_count(Thread& thread, std::uint64_t now, const SnapshotCount& count) {
  detail::make_room(thread);
  detail::append<Kind::count>(thread, now, count.counter, count.value, count.enabled, count.running);
}

}  // namespace

void begin_counts(const Thread& thread, std::uint32_t depth) {
  SlotCounts& slot = slot_of(thread);
  const Reading reading(slot);
  if (depth < kMaxSpans) read_counts(slot.events, owner_of(thread), Edge::begin, slot.begun[depth]);
}

void end_counts(const Thread& thread) { slot_of(thread).switches = switches_now(); }

void write_counts(Thread& thread, std::uint64_t now) {
  SlotCounts& slot = slot_of(thread);
  if (slot.events.owner != owner_of(thread)) return;
  Counts ended;
  {
    const Reading reading(slot);
    read_counts(slot.events, slot.events.owner, Edge::end, ended);
    put_switches(slot.switches, ended);
  }
  const Counts& begun = slot.begun[thread.depth - 1];
  for (std::size_t i = 0; i < wanted_counters.count; ++i)
    if ((begun.known & ended.known) >> i & 1)
      write_count(thread, now, count_of(slot.events, i, begun, ended));
}

bool counts_since_sample(const Thread& thread, CountsSince& since) {
  SlotCounts& slot = slot_of(thread);
  const std::uint64_t owner = owner_of(thread);
  if (slot.reading || slot.events.owner != owner) return false;
  Counts now;
  read_counts(slot.events, owner, Edge::end, now);
  const bool is_first = slot.sampled_owner != owner;
  const std::uint32_t known = is_first ? 0 : slot.sampled.known & now.known;
  since.count = 0;
  for (std::size_t i = 0; i < wanted_counters.count; ++i)
    if (known >> i & 1) since.of[since.count++] = count_of(slot.events, i, slot.sampled, now);
  slot.sampled = now;
  slot.sampled_owner = owner;
  return since.count > 0;
}

void forget_counts() {
  if (!counters_on) return;
  for (SlotCounts& slot : slots)
    if (slot.events.owner != 0) close_events(slot.events);
}

}  // namespace lotus
