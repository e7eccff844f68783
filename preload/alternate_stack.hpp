// The stack that a thread's samples are taken on: not its own.
//
// Code may use the stack pointer as it likes, as long as no signal comes: oneDNN's matrix kernels point it
// into a buffer on the heap, and what the kernel pushes there for a signal handler overwrites what lies
// below.
#pragma once

#include <signal.h>

#include <cstdint>

namespace lotus {

// Gives this thread an alternate signal stack, if it has none. What cannot be had is left: it is sampled on
// its own stack then. `stack`: an address in this thread's own stack, near its beginning.
void use_alternate_stack(std::uintptr_t stack);

// Before a thread ends. Of those that end without, the stack is used again when no other is left.
void leave_alternate_stack();

// In a forked child: all but this thread's are free.
void forget_alternate_stacks();

// Whether it is one of ours, of which the program is not to know.
bool is_alternate_stack(const stack_t& stack);

// Whether `address` lies in this thread's own stack for certain, and not far from its beginning. For signal
// handlers.
bool in_own_stack(std::uintptr_t address);

}  // namespace lotus
