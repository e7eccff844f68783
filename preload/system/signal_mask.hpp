// A thread's mask of signals.
#pragma once

#include <signal.h>

namespace lotus {

// pthread_sigmask(), which is in another library than libc before glibc 2.32: on Linux it is sigprocmask().
inline void set_signal_mask(int how, const sigset_t* set, sigset_t* before) { sigprocmask(how, set, before); }

}  // namespace lotus
