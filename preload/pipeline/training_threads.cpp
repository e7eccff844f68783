#include "pipeline/training_threads.hpp"

namespace lotus {
namespace {

// A forked child goes on counting: only differences matter, and its one thread is the one that forked.
constinit std::uint64_t optimizer_steps = 0;
constinit thread_local bool trains = false;

}  // namespace

void note_optimizer_step_here() {
  trains = true;
  __atomic_fetch_add(&optimizer_steps, 1, __ATOMIC_RELAXED);
}

void note_backward_here() { trains = true; }

std::uint64_t steps_of_others() { return trains ? 0 : __atomic_load_n(&optimizer_steps, __ATOMIC_RELAXED); }

}  // namespace lotus
