// The stack that a thread's samples are taken on: not its own.
//
// Code may use the stack pointer as it likes, as long as no signal comes: oneDNN's matrix kernels point it
// into a buffer on the heap, and what the kernel pushes there for a signal handler overwrites what lies
// below.
#pragma once

#include <signal.h>

#include <cstdint>

namespace lotus {

// Before any is used, and in a forked child, where those of threads that are not there are free.
void begin_alternate_stacks();

// Gives this thread an alternate signal stack, if it has none. `stack`: an address in its own, near the
// beginning. A thread that cannot have one is not sampled. Does nothing before begin_alternate_stacks().
void use_alternate_stack(std::uintptr_t stack);

// Before a thread ends. Of those that end without, the stack is used again when no other is left.
void leave_alternate_stack();

// Whether a thread of this process has an alternate stack, ours or its own.
bool has_alternate_stack(std::uint32_t tid);

// Whether it is this thread's, of which the program is not to know.
bool is_alternate_stack(const stack_t& stack);

// Whether `address` lies in this thread's own stack for certain, and not far from its beginning. For signal
// handlers.
bool in_own_stack(std::uintptr_t address);

}  // namespace lotus
