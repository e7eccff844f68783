// Which threads train. Where a thread of training's process takes the batches and hands them on, as
// prefetching ones do, the time in `__next__` is that thread's and not training's: its `next` spans tell how
// far the other threads have trained meanwhile.
#pragma once

#include <cstdint>

namespace lotus {

// The calling thread trains: it makes a step of an optimizer, or a backward pass, in which PyTorch may have
// an optimizer step in a thread of its own.
void note_optimizer_step_here();
void note_backward_here();

// Steps of optimizers that other threads have made so far. 0: none, or the calling thread trains itself.
std::uint64_t steps_of_others();

}  // namespace lotus
