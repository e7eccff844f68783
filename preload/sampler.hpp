// Stack sampling: while a thread uses CPU time, a signal copies its registers and stack into the snapshot
// ring, tagged with the operation that is open. The handler reads, copies and returns: it allocates nothing,
// takes no lock, unwinds nothing. The collector does the rest (include/lotus/snapshot.hpp).
#pragma once

#include <signal.h>

#include <cstdint>

namespace lotus {

extern bool sampler_wanted;  // snapshots are taken in this process once it loads data
extern bool sampler_on;      // … are taken

// Once the configuration is known: this thread, and all that begin from now on, can be sampled.
void want_samples();

// At the process's first event, with the segment made: takes a signal, arms every thread that has a stack
// for it.
void start_sampler();

// Arms threads and defines modules that are new, at most ten times a second. Called where an operation or a
// batch ends, at `now` in ticks.
void poll_sampler(std::uint64_t now);

// Called where an operation ends: defines modules that are new if a snapshot was taken in this thread, so
// that its addresses can be told at once. Polls.
void after_operation(std::uint64_t now);

// In a thread that begins: arms it, unless another thread changes clocks just now (then it is found later: to
// wait could be for ever, where who holds them waits for the loader, and the loader's holder for this
// thread).
void sample_this_thread();

// The signal that this process takes samples with; 0: none. A child of vfork has none.
int sample_signal_now();

// Handlers that run on an alternate stack of the program's are not interrupted by samples: the kernel would
// put those on the same stack, which may be too small for both. True: `action` was changed.
bool keep_samples_out(struct sigaction& action);
// Takes what keep_samples_out() added away again, for the program to see.
void hide_sample_signal(struct sigaction& action);
inline bool is_sample_signal(int signal) { return signal > 0 && signal == sample_signal_now(); }

// Whether a signal is the sampler's own, not one of the same number that somebody sent.
bool is_sample(const siginfo_t& info);

// Leaves the signal to the program, with the default action and none of ours pending; samples are taken with
// another one from now on, or no more if none is free.
void leave_signal();

// Before exec: no sample may be pending then, which would end the new program. If there is none after all,
// poll_sampler() begins again.
void stop_for_exec();

// Around fork(): a signal would make the kernel start over, for ever where forking takes longer than a
// period.
void hold_samples();
void resume_samples();

// In a forked child: no timer is inherited; start_sampler() again at its first event.
void forget_sampler();

}  // namespace lotus
