// Stack sampling: while a thread uses CPU time, a signal copies its registers and stack into the snapshot
// ring, tagged with the operation that is open. The handler reads, copies and returns: it allocates nothing,
// takes no lock, unwinds nothing. The collector does the rest (include/lotus/snapshot.hpp).
#pragma once

#include <signal.h>

#include <cstdint>

#include "record/native_totals.hpp"
#include "system/hot.hpp"

namespace lotus {

// What stack samples are taken by; perf's clock only where it is permitted (sample_timer.hpp).
enum class SampleClock { timer, perf };

struct Sampling {
  unsigned hz = 199;  // 0: no stack sampling
  SampleClock clock = SampleClock::timer;
};

extern bool sampler_wanted;  // snapshots are taken in this process once it loads data

// This thread, and all that begin from now on, can be sampled.
void want_samples(const Sampling& sampling);

// At the process's first event, with the segment made: takes a signal, arms every thread that has a stack
// for it.
void start_sampler();

// When poll_sampler() has something to do again, in ticks.
LOTUS_DIRECT extern std::uint64_t next_poll;

// Where the last snapshot found this thread, and the threads that record nothing, as those of a pool: whoever
// ends an operation explains theirs. 0: none was taken since.
extern constinit thread_local std::uintptr_t snapshot_at;
LOTUS_DIRECT extern std::uintptr_t snapshot_elsewhere_at;

// Arms threads and defines modules that are new, once a second. Called where an operation or a batch
// ends, at `now` in ticks.
void poll_now(std::uint64_t now);
inline void poll_sampler(std::uint64_t now) {
  if (now >= next_poll) [[unlikely]]
    poll_now(now);
}

// Defines modules that are new, so that these addresses can be told at once.
void explain_snapshots();

// Called where an operation ends, at `now` in ticks.
inline void after_operation(std::uint64_t now) {
  poll_sampler(now);
  if (snapshot_at != 0 || snapshot_elsewhere_at != 0) [[unlikely]]
    explain_snapshots();
}

// What waited as long as this is recorded, in ticks. UINT64_MAX: nothing is.
LOTUS_DIRECT extern std::uint64_t least_wait;

// A call inside of a fetch has returned that waited for so many ticks; this thread's stack is recorded with
// it, without what lies below `frame`, where the caller's frame begins. `at`: an address in the caller.
void record_wait(HookId hook, std::uint64_t ticks, std::uintptr_t frame, std::uintptr_t at);

// In a thread that begins: arms it, unless another thread changes timers just now (then it is found later: to
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
