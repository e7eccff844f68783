// LOTUS_TRY=memory-plan=FILE: what a plan of `lotus-analyze memory-plan --mode offload` moves to slow memory
// and back is moved so, in every second step: the activations that autograd saves, which it hands out to
// hooks for that. Without LOTUS_TRY nothing here is ever called.
//
// The moving is a Python program's (offload.py), which only runs for a user who asked for it. What it has to
// know of the operator that runs stands in `offload`, and what it did.
#pragma once

#include <pthread.h>

#include <cstdint>

#include "python/call.hpp"

namespace lotus {

// Shared with offload.py, which has the same list of words.
struct Offload {
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  static constexpr std::uint64_t kStorages = 64;

  std::uint64_t on;    // this step follows the plan
  std::uint64_t step;  // its number
  std::uint64_t op;    // the operator that runs: its place in the step; kNone
  std::uint64_t
      count;  // of its arguments' storages, each once; more than kStorages: there is no room for all
  std::uint64_t storages[kStorages];  // their addresses, in order
  // By offload.py: what the plan predicts of such a step, and what was done in this one.
  std::uint64_t planned_moves, planned_ns, planned_freed;
  std::uint64_t moves, bytes, ns;
  std::uint64_t late;    // moves that took longer than the plan has it
  std::uint64_t moving;  // the thread (its pthread_t) whose operators are offload.py's own now; 0: none
};
extern constinit Offload offload;

// Whether this thread's operators are those of a move, which are none of the program's.
inline bool is_moving() {
  return offload.moving != 0 && offload.moving == static_cast<std::uint64_t>(pthread_self());
}

// Takes the plan's file. Returns nullptr, or why it is none.
const char* want_offload(const char* path, std::uint64_t length);
bool wants_offload();

// What the plan predicts of the step that runs; all 0: it follows none.
struct OffloadPlan {
  std::uint64_t moves = 0, ns = 0, freed = 0;  // freed: bytes that the peak is less
};
OffloadPlan offload_plan();

// Before a step that is recorded, and at its end. With the GIL held.
void begin_offload_step(std::uint64_t number);
void end_offload_step();

// An operator begins, one of its arguments has this storage, it ends.
inline void note_operator(std::uint64_t place) {
  if (offload.on == 0) [[likely]]
    return;
  offload.op = place;
  offload.count = 0;
}
void note_argument(std::uint64_t address);
inline void note_end_of_operator() { offload.op = Offload::kNone; }

}  // namespace lotus
