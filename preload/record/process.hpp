// What is known of this process as a whole while it records.
#pragma once

#include <cstdint>
#include <lotus/events.hpp>  // before `process`, or g++ 12 warns that a kind of that name shadows it

#include "record/segment.hpp"
#include "system/hot.hpp"

namespace lotus {

struct Process {
  std::uint32_t generation;  // counts forks; spans opened before one are not closed after it
  bool off;                  // sticky: nothing is recorded any more
  bool worker;               // a DataLoader worker
  int pid;                   // as getpid() says; a child of vfork has another one and shares all this
  Segment segment;
  std::uint32_t next_stream;        // number of the next thread that records, from 1
  std::uint64_t flush_after_ticks;  // a chunk that is older than a second is handed on
};
LOTUS_DIRECT extern Process process;

// What the recorder leaves to others, who know the program and its trace (life/first_event.cpp): set once,
// before anything is recorded.
struct Lifecycle {
  // At the process's first event: makes its segment by open_segment(). False: it has switched off.
  bool (*begin)();
  // Then, when there is a thread to record with. Needs the GIL.
  void (*begun)();
  // After each chunk that was handed on.
  void (*flushed)();
  // OtherLoaders of the nearest traced ancestor; 0: none, or there is no such one. 50 µs.
  std::uint32_t (*loaders_of_ancestor)();
};
extern Lifecycle lifecycle;

// Makes this process's segment, and begins to record into it. `reason`: see make_segment().
Made open_segment(const SegmentOwner& owner, char* reason);

}  // namespace lotus
