// A recording: the facts of a trace about one DataLoader, in a form that can be replayed. Times in ns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/stats/cpu_time.hpp"
#include "reading/trace/catalog.hpp"

namespace lotus::analyzer {

// An operation as the loader's workers ran it. Callables of one name count as one.
struct RecordedOp {
  std::string name;
  OpRole role = OpRole::transform;
  std::uint64_t calls = 0;
  double self = 0;                      // nested operations excluded, all calls inside of fetches
  std::vector<std::uint32_t> nested{};  // operations that it calls itself; at most kMostNested
  CpuTime cpu;
  std::string library{};    // whose function it is; empty: the program's own, or not a plain function
  bool first_only = false;  // in the first batches of workers, and in no other: opening what they keep
};

inline constexpr std::size_t kMostNested = 16;

// The time that one fetch spent in one operation (position in Recording::ops), nested ones excluded.
struct OpTime {
  std::uint32_t op = 0;
  float ns = 0;
};

struct RecordedBatch {
  std::uint64_t index = 0;  // PyTorch's own, within the epoch
  std::uint32_t worker = 0;
  std::uint64_t samples = 0;
  double fetch = 0;                 // T1
  double fetch_cpu = 0;             // of it
  std::optional<double> core_wait;  // of it; none: not known
  double lock_wait = 0;             // of it: waiting for a lock that all workers share
  bool settled = true;              // it began when all workers had begun their first
  double transfer = 0;              // from the end of the fetch until the result queue has the batch
  double transfer_cpu = 0;          // of it: pickling
  double pipe = 0;                  // of it: writing to the pipe, which one worker does at a time
  double joint = 0;                 // of that: while the receiver read, or would have
  double receive = 0;               // getting it out of the result queue, once it is there
  double pin = 0;                   // pinning, if there is a pin thread
  std::optional<double> pause;      // of its worker until its next fetch; none: there is no next one
  bool waited = false;              // the worker waited for an index then: it paused for less
  std::vector<OpTime> ops{};

  // The fetch's time without computing and without waiting for that lock.
  double rest() const { return std::max(0.0, fetch - fetch_cpu - lock_wait); }
  // The share of it that was not waiting for a core; `unknown`, where that was not recorded.
  double sleeping_share(double unknown = 1) const {
    return core_wait && rest() > 0 ? 1 - std::clamp(*core_wait / rest(), 0.0, 1.0) : unknown;
  }
};

// A training step: the time between two calls of __next__.
struct RecordedStep {
  double wall = 0;
  double cpu = 0;  // of the whole process
};

struct RecordedEpoch {
  std::vector<RecordedBatch> batches;  // in the order in which they were asked for
  std::vector<RecordedStep> steps;  // in the order in which they were made; one per batch that training got
  std::uint64_t consumed = 0;       // batches that training got, all of them
  double start = 0;                 // from the call of __iter__ to the first __next__
  std::vector<double> ready;        // by worker: from the call of __iter__ to its first fetch
  double finish = 0;                // the last __next__, which gave no batch
  bool finished = false;            // there was one
  bool fresh = true;                // workers were started for it
};

// The performance of a run, recorded or replayed.
struct Achieved {
  double images = 0;  // samples that training got
  double time = 0;    // of the epochs, from the call of __iter__ to the end of the last __next__
  double loop = 0;    // from the first __next__ on
  double next = 0;    // inside __next__

  double images_per_s() const { return time > 0 ? images / time * 1e9 : 0; }
  double waited_percent() const { return loop > 0 ? 100 * next / loop : 0; }
};

// Costs of the communication between training and its workers: medians over the batches where they are known,
// the shortest where those are few.
struct Overheads {
  double dispatch = 0;  // from try_put_index to the fetch, where the worker had nothing else to do
  double between = 0;   // from one fetch to the next of a worker that had its index already
  double own = 0;       // the training process's own work in a __next__, receiving excluded
  double handover = 0;  // getting a pinned batch, once it is there
};

// Whether the workers of a loader make their samples one after the other, as if all needed the same lock.
// Ends of samples of all workers, in order of time: where workers are independent, many follow the one before
// at once.
struct TakingTurns {
  std::uint64_t gaps = 0;   // between two ends of different workers, with all of them at work
  std::uint64_t close = 0;  // of these: shorter than half of the mean
};

struct Recording {
  std::string file;
  std::uint32_t pid = 0;         // of the training process
  std::string torch;             // its version
  std::string unit = "samples";  // Catalog::sample_unit(); `batches` where their sizes are not known
  Loader loader;
  double cores = 0;       // of the machine; 0: not known
  bool iterable = false;  // a dataset that is iterated: its workers' samples end
  std::vector<RecordedOp> ops;
  std::vector<RecordedEpoch> epochs;
  std::uint64_t batches = 0;     // that training got in all epochs
  std::uint64_t unseen = 0;      // of these, batches without a fetch in the trace
  std::uint64_t all_epochs = 0;  // also those that are not kept
  std::vector<double>
      slowness;  // by worker: its fetches' length relative to the other workers'; 1: no outlier
  Overheads overheads;
  Achieved achieved;
  double from = 0, until = 0;    // realtime: the begin of the first epoch, the end of the last
  TakingTurns turns;             // of its workers, at their samples
  std::uint64_t unfinished = 0;  // epochs that training left before their end
  std::uint64_t made = 0;        // batches that were made, used or not
  double starting = 0;           // from the call of __iter__ until the first batch came, sum over all epochs
  bool core_wait_known = false;  // of some of the fetches
  double next_elsewhere = 0;     // of achieved.next: in epochs of which Iteration::trained_elsewhere()
  bool transfer_known = true;    // false: recorded without workers
  bool step_cpu_known = true;

  std::uint64_t kept() const;
  // Whether the trace has the fetches of enough batches for a meaningful replay.
  bool seen() const { return unseen * 10 <= batches; }
  // Its batches are taken by a thread that hands them on: how training waited is not known.
  bool taken_elsewhere() const { return next_elsewhere > achieved.next / 2; }
};

// Whether the workers seem to wait for each other at each sample, as for a lock.
bool taking_turns(const Recording& recording);

// With fewer batches than this, a replay is not meaningful.
inline constexpr std::uint64_t kFewestToReplay = 8;

inline std::uint64_t Recording::kept() const {
  std::uint64_t count = 0;
  for (const auto& epoch : epochs) count += epoch.steps.size();
  return count;
}

}  // namespace lotus::analyzer
