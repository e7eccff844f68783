// How much stack a thread has.
#pragma once

#include <cstdint>

namespace lotus {

// Finds the functions of libc that tell: before glibc 2.34, they are in libpthread.so.0, which every Python
// has. False: there are none.
bool find_thread_functions();

// Bytes of this thread's stack below `address`, which lies in it; for the main thread, whose stack grows, at
// least so many. Not in a signal handler: libc allocates here.
std::uintptr_t stack_below(std::uintptr_t address);

}  // namespace lotus
