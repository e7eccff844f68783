// Where the collector finds a thread's Python frames, which it reads when the thread stands still.
#pragma once

#include <cstdint>

#include "python/cpython.hpp"
#include "record/chunk.hpp"
#include "record/this_thread.hpp"

namespace lotus {

[[gnu::cold]] void show_interpreter(py::ThreadState* state);

// With the GIL held, inside a Python call; of a thread that has recorded something, else nothing is done.
inline void show_frames(py::ThreadState* state) {
  if (this_thread.recorder == nullptr || this_thread.generation != process.generation || process.off) return;
  std::uint64_t& shown = this_thread.recorder->slot->python_state;
  const auto address = reinterpret_cast<std::uint64_t>(state);
  if (shown == address) return;
  __atomic_store_n(&shown, address, __ATOMIC_RELAXED);
  show_interpreter(state);
}

}  // namespace lotus
