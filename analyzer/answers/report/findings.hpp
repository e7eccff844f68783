// The findings of a report, before they are printed as text or JSON. Times in ns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "answers/counters/findings.hpp"
#include "answers/replay/recording.hpp"
#include "answers/report/facts.hpp"
#include "answers/report/thread_pools.hpp"
#include "answers/report/trial.hpp"
#include "answers/stacks/profile.hpp"
#include "answers/stats/core_wait.hpp"
#include "answers/stats/cpu_time.hpp"
#include "answers/stats/interval.hpp"
#include "answers/stats/series.hpp"
#include "reading/model/python_calls.hpp"
#include "reading/model/standing_frame.hpp"
#include "reading/trace/catalog.hpp"
#include "reading/trace/damage.hpp"

namespace lotus::analyzer {

struct Findings;

// Calls that open, read and map files.
struct FileIo {
  std::uint64_t calls = 0;
  double ns = 0;
  double read = 0;    // bytes
  double mapped = 0;  // bytes; only touched pages are read, and which ones is not known

  void add(const FileIo& other) {
    calls += other.calls;
    ns += other.ns;
    read += other.read;
    mapped += other.mapped;
  }
};

// Native code and file access inside of an operation.
struct NativeFinding {
  FileIo io;                      // nested operations excluded
  std::uint64_t samples = 0;      // stack samples in the operation
  std::string function, library;  // the most frequent innermost function; empty: none
  std::string under;              // see named_caller(); empty: none
  bool by_code = false;           // it was recognised by its code
  bool python = false;            // that function is a Python function
  double share = 0;               // of the CPU time, in [0, 1]
  Bounds interval;                // 95 %
};

// A share of time from which on it is told that tracing took it, in percent.
inline constexpr double kTellsOfTracingPercent = 2;

struct OpFinding {
  Op op;
  Series wall;               // of each call, nested ops included
  double self = 0;           // nested ops excluded, calls outside of a fetch too
  double fetch_self = 0;     // the same, inside of fetches and in pools of threads only
  CpuTime cpu;               // of the same calls as `wall`
  std::uint64_t errors = 0;  // left by an exception
  std::uint64_t under_10ms = 0, under_100us = 0;
  PythonCalls python_calls;  // in the same calls as `wall`
  NativeFinding native;

  // Counts a call that took `ns`; `cpu_ns`: none if not measured.
  void add_call(std::int64_t ns, std::optional<std::uint64_t> cpu_ns) {
    wall.add(ns);
    under_10ms += ns < 10'000'000 ? 1 : 0;
    under_100us += ns < 100'000 ? 1 : 0;
    cpu.add(ns, cpu_ns);
  }

  // What the tracer added to the calls' time, in percent of it.
  double tracing_percent() const {
    return wall.sum() > 0 ? 100 * static_cast<double>(python_calls.ns) / wall.sum() : 0;
  }

  // CPU time in percent of the calls' time, at most 100; file access in percent of `self`.
  std::optional<double> cpu_percent(const Findings& findings) const;
  std::optional<double> io_percent() const {
    return self > 0 ? std::optional(100 * native.io.ns / self) : std::nullopt;
  }
};

// A thread that takes batches and hands them on to the one that trains, as prefetching ones do.
struct TakingThread {
  std::uint64_t tid = 0;
  std::string name;         // the kernel's
  std::uint64_t steps = 0;  // that other threads' optimizers made meanwhile
};

struct LoaderFinding {
  std::size_t file = 0;  // position in Findings::files
  const Process* training = nullptr;
  std::optional<Loader> loader;  // none: its definition is lost
  std::uint64_t epochs = 0;
  std::uint64_t epoch_batches = 0;  // of the last epoch that was gone through to its end; 0: none was
  std::uint64_t given = 0;          // batches of another library's loader, see Loader::library
  Series fetch, train_step, wait;
  double next = 0;            // inside __next__
  double loop = 0;            // from the first __next__ of an epoch to the end of its last
  double next_elsewhere = 0;  // of `next`: in epochs of which Iteration::trained_elsewhere(); …
  TakingThread taker;         // … by this thread
  EpochsFinding first_epoch, later_epochs;

  // That training got, or that were made for it.
  std::uint64_t batches() const { return given > 0 ? given : fetch.count(); }
  // `next` and `loop` are that thread's: how long training waited is not known.
  bool taken_elsewhere() const { return next_elsewhere > next / 2; }
  std::optional<double> waited_percent() const {
    return loop > 0 && !taken_elsewhere() ? std::optional(100 * next / loop) : std::nullopt;
  }
};

struct WorkerFinding {
  std::size_t file = 0;
  const Process* process = nullptr;
  std::int64_t id = -1;
  std::optional<std::size_t> loader;  // position in Findings::loaders
  std::uint64_t batches = 0;
  double fetch = 0;
  double life = 0;  // length of its worker loop; until its last record if the loop never ended

  std::optional<double> busy_percent() const {
    return life > 0 ? std::optional(100 * fetch / life) : std::nullopt;
  }
};

struct SlowSample {
  std::int64_t index = -1;
  std::string path;  // empty: none is known
  std::int64_t ns = 0;
  std::uint32_t pid = 0;
  std::string op;      // the operation that took most of it; empty: none
  bool first = false;  // the first sample of its worker
};

// What a thread was in the middle of.
struct Unfinished {
  const Process* process = nullptr;
  std::string name;  // the operation that was running, or a description
  std::optional<std::uint64_t> batch;
  std::optional<std::int64_t> index;  // of the sample
  std::string path;                   // empty: none is known
};

// A thread that did not go on for seconds when it was looked at last, of a program that still runs.
struct Stuck : Unfinished {
  double at_least = 0;                // ns
  std::int64_t seen = 0;              // realtime
  std::vector<StandingFrame> frames;  // Python's, innermost first; empty: not known
  std::uint64_t unreadable = 0;       // errno: why they are not
};

// `Store.get (train.py:88)`
std::string place_of(const StandingFrame& frame);

// A thread whose process ended while it made or waited for a batch.
struct CutShort : Unfinished {
  double at_most = 0;             // how long that ran at most: until the end was noticed
  std::int64_t silent_since = 0;  // the process's last record, realtime
};

struct QualityFinding {
  std::uint64_t events = 0, lost_events = 0, lost_definitions = 0, dropped_spans = 0;
  std::uint64_t unrecorded_workers = 0;
  std::uint64_t missing_workers = 0;  // have begun; the file ends before their first record
  std::uint64_t gaps = 0, open_spans = 0;
  std::uint64_t without_timers = 0;  // processes with threads that were not sampled for want of timers
  TimersRefused timers_refused;      // of one of these
  bool truncated = false, interrupted = false, calibrated = true;
  Damage damage;
  double missing_loop = 0;  // gaps in training loops: not in the loops' length nor in the wait
  PythonCalls python_calls;
  double own_cost = 0;  // of the tracer, those of Python calls included
  double busy = 0;      // of the traced program while it loaded or trained

  std::optional<double> overhead_percent() const {
    return busy > 0 ? std::optional(100 * own_cost / busy) : std::nullopt;
  }
};

// The CPU time of all traced processes, by their stack samples. 0: none was taken.
struct SampledCpu {
  double all = 0;                  // ns
  double workers = 0;              // of it: in workers
  double by_helpers = 0;           // of that: by threads that record nothing: pools of libraries
  std::uint64_t most_threads = 0;  // helping threads of one worker, that were sampled
  std::vector<PoolFinding> pools;  // whose they are, by CPU time; of traces with names
};

// A function of the dataset's own code: what fetches call outside of all operations.
struct OwnFunction {
  std::string name;    // the innermost Python function
  std::string inside;  // native function in which most of its time was; empty: none
  double share = 0;    // of the CPU time of fetches outside operations
  std::uint64_t samples = 0;
};

// Calls inside of fetches that waited for 10 ms or more, from one place and in one function of libc.
struct WaitFinding {
  OpKey op;  // the innermost operation; outside(): the dataset's own code
  // Of the program's own code, else the innermost Python or native one, and where it is; empty: not known.
  std::string function, file;
  std::uint64_t line = 0;
  std::string through;  // the innermost Python function, if that is another one
  std::string call;     // the function that waited
  WaitTally tally;
};

// A time in which no process of the program did anything, though at least two were in the middle of
// something.
struct Standstill {
  std::int64_t at = 0;  // realtime
  double ns = 0;
};

struct Findings {
  // The share of computing in the time of fetches. None if no fetch was measured.
  std::optional<double> fetch_cpu_share() const {
    return fetch_cpu_wall > 0 ? std::optional(fetch_cpu / fetch_cpu_wall) : std::nullopt;
  }
  // The share of the time of fetches in which Python's garbage collector ran, in [0, 1].
  double collecting_share() const;
  // Whether anything says how long training waited for its batches.
  bool waits_known() const { return next > 0 || !wait.empty(); }

  std::vector<std::string> files;
  std::uint64_t processes = 0;
  std::uint64_t cores = 0;  // of the machine, 0: unknown
  double duration = 0;      // first to last record, summed over the files
  double wall = 0;          // the same, once for each training process
  QualityFinding quality;

  std::vector<OpFinding> ops;
  double fetch_cpu = 0, fetch_cpu_wall = 0;  // over the fetches whose CPU time was measured
  // CPU share of the calls that resemble no measured call of their operation: find_unmeasured_share().
  std::optional<double> unmeasured_share;
  CoreWait core_wait;
  double unended_fetch = 0;          // … the part of it in those that never ended
  double fetch_time = 0;             // in fetches, also those that raised or never ended: the base of shares
  double outside_ops = 0;            // the part of it that is in no op
  double making_time = 0;            // the same with all ops, which may be more where threads share the work
  Series fetch, sample, train_step;  // sample: as far as they are told apart
  std::uint64_t samples = 0;         // all that were made
  bool unsized = false;              // of some batches it is not known how many samples they have
  std::uint64_t failed_batches = 0;  // making them raised

  Series wait, delay;
  std::uint64_t out_of_order = 0;
  std::uint64_t wait_over_500ms = 0, wait_over_1ms = 0, wait_under_1ms_in_order = 0;
  std::uint64_t delay_over_500ms = 0, delay_under_250ms = 0;

  Series serialize, send, deserialize, pin;
  double bytes = 0;  // of all that was serialized
  // Of that, tensors' storages, which go through shared memory. nullopt: not recorded.
  std::optional<double> storages;
  double storage_bytes = 0;
  std::uint64_t queue_samples = 0, queue_most = 0;
  double queue_sum = 0;

  Facts facts;
  CounterFindings counters;  // empty without LOTUS_COUNTERS

  // See LoaderFinding; of those whose batches are not taken elsewhere, steps that go through several at once
  // counted once.
  double next = 0, loop = 0;
  double at_once = 0;  // by which the loops of a thread are longer together
  std::vector<LoaderFinding> loaders;
  std::vector<WorkerFinding> workers;
  std::vector<SlowSample> slow;  // slowest first; first samples of workers only if there are too few others
  std::vector<Stuck> stuck;      // longest first
  SampledCpu sampled;
  std::vector<OwnFunction> own_functions;  // by share, the largest three
  std::vector<WaitFinding> waits;          // longest in all first
  std::vector<Standstill> standstills;
  std::vector<CutShort> cut_short;    // by last record, earliest first: it is often the cause of the others
  std::vector<Tried> tried;           // by LOTUS_TRY, each once
  std::optional<TrialOutcome> trial;  // if there is a former run
  std::vector<Recording> recordings;  // one a loader, longest waited for first
  std::string control_flow;           // what `control-flow` says first; empty: nothing
};

// The share of computing in the calls that resemble no measured call of their operation, and in the time
// outside operations. CPU time is measured for each batch, but only for some calls of an operation. The
// estimates for calls that resemble measured ones are subtracted from the CPU time of the batches; the
// remainder, divided by the remaining time, is this share. It matters on a busy machine, where the longest
// calls are those that lost their core, of which few are measured. None if no batch was measured.
std::optional<double> find_unmeasured_share(const Findings& findings);
// CPU seconds of an op, estimated from the measured calls; none: nothing was measured anywhere.
std::optional<double> cpu_of(const OpFinding& op, const Findings& findings);
// CPU seconds of fetches outside of all ops; none: CPU time was not measured.
std::optional<double> cpu_outside_ops(const Findings& findings);
// The time of fetches outside of all ops, ns, without waiting for a core, as far as that is known: where
// programs compete for the cores, the kernel often preempts a thread between two operations.
double own_time_outside_ops(const Findings& findings);
// Share of an op's own time in the time of all fetches.
double share_percent(const OpFinding& op, const Findings& findings);
// The op with the greatest share, or nullptr.
const OpFinding* dominant_op(const Findings& findings);

}  // namespace lotus::analyzer
