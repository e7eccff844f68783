// The recorder of the calling thread.
#pragma once

#include <cstdint>

#include "record/chunk.hpp"

namespace lotus {

// Thread-local state. Trivially destructible: threads may end in any way.
struct ThisThread {
  Thread* recorder;          // nullptr: nothing recorded yet, or no slot was free
  std::uint32_t generation;  // of `recorder`; a fork makes it stale
  bool refused;              // no slot was free for this thread
};
extern constinit thread_local ThisThread this_thread;

// This thread's recorder, made at its first event. nullptr: off, or no room.
Thread* acquire_thread();

inline Thread* current_thread() {
  if (this_thread.recorder != nullptr && this_thread.generation == process.generation && !process.off)
      [[likely]]
    return this_thread.recorder;
  return acquire_thread();
}

namespace detail {
void drop_span();
}

}  // namespace lotus
