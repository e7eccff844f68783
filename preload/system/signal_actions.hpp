// Signals that the sampler takes from those that the program has no use for.
#pragma once

#include <signal.h>

namespace lotus {

using SignalHandler = void (*)(int, siginfo_t*, void*);

// libc's own sigaction(), behind the one that is interposed, which sets it before any thread exists.
using Sigaction = int (*)(int signal, const struct sigaction* action, struct sigaction* old);
extern Sigaction real_sigaction;

// Installs the handler for this signal if its action is the default one.
bool take_signal(int signal, SignalHandler handler);

// Installs the handler for a real-time signal whose action is the default one, from `first` downwards, then
// from the highest. Not `SIGRTMAX` itself, nor `except`. 0: none is free.
int take_real_time_signal(SignalHandler handler, int first, int except);

bool has_signal(int signal, SignalHandler handler);

// Restores the default action. Signals of this number that are pending in any thread are discarded; nothing
// may send more of them.
void give_back_signal(int signal);

// In a signal handler: what the default action makes of the signal.
void end_by_signal(int signal);

}  // namespace lotus
