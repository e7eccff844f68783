// What counters say of the calling thread.
//
// Page faults, switches and CPU time come by system calls that need neither permission nor descriptor. Of the
// processor's counters, a group whose events all have pages is read without the kernel (event_page.hpp).
// Other events of perf have descriptors only, which the program may close and use for something else: so they
// stand at high numbers, and before each read the kernel is asked whether it is the event still. Where it is
// not, that group of events is given up in this thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lotus/counters.hpp>

#include "counters/perf_kernel.hpp"
#include "counters/wanted.hpp"

namespace lotus {

inline constexpr std::size_t kMaxGroups = 4;

// Since the group was made, ns: how long its thread ran, and how long of it the group was on the processor.
// What does not fit is on in turns.
struct GroupTimes {
  std::uint64_t enabled, running;
};

struct Counts {
  std::uint32_t known;  // a bit for each counter
  std::uint64_t values[kMaxCounters];
  GroupTimes times[kMaxGroups];
};

// The events of one thread.
struct ThreadEvents {
  std::uint64_t owner;  // as the caller says; another one's are closed, and made anew
  std::uint32_t groups;
  std::uint8_t group_of[kMaxCounters], place_of[kMaxCounters];  // group: kNoGroup if it has none
  std::uint32_t members[kMaxGroups];
  int leaders[kMaxGroups];  // descriptors; -1: given up
  std::uint64_t ids[kMaxGroups];
  // Events that need the kernel, in a group of their own so that the others do not.
  bool apart[kMaxGroups];
  int descriptors[kMaxCounters];  // of the members, -1: none
  std::uint64_t member_ids[kMaxCounters];
  const EventPage* pages[kMaxCounters];  // of the members, nullptr: not to be read without the kernel
  std::uint32_t mapped_by;               // process that has the pages; 0: none
  std::uint64_t own[kMaxCounters];       // what reading them counts itself
};
inline constexpr std::uint8_t kNoGroup = 0xff;

// Where what is counted begins or ends: perf's events are read nearest to it.
enum class Edge : std::uint8_t { begin, end };

// Reads all counters that are wanted; `events` are those of the calling thread. Async-signal-safe.
void read_counts(ThreadEvents& events, std::uint64_t owner, Edge edge, Counts& counts);

// How often another thread ran in place of this one; 0: it is not wanted. It is to be read before any other
// call of the kernel where what is counted ends, and put in place of what was read later.
std::uint64_t switches_now();
void put_switches(std::uint64_t switches, Counts& counts);

// What a counter counted between two reads, one of the thread's CPU clock beside each of them.
std::uint64_t counted(const ThreadEvents& events, std::size_t counter, const Counts& from, const Counts& to);

// Closes what is still there of a thread that is gone, or that the parent of this forked process has.
void close_events(ThreadEvents& events);

// Asks the kernel, on the calling thread, whether and how it counts an event.
void try_counter(WantedCounter& counter);

// The same for each of the wanted counters, once.
void try_counters();

}  // namespace lotus
