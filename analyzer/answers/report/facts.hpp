// What a run did beside its operations, as far as it was recorded. Times in ns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lotus::analyzer {

// The training processes asking their samplers which samples make the next batch.
struct SamplerFinding {
  std::uint64_t calls = 0;  // of the samplers and their iterators; 0: nothing of it was recorded
  double first = 0;         // making the samplers' iterators, and drawing the first batch of each epoch
  double later = 0;         // drawing all others
  double waited = 0;        // of both: inside next(); the rest was before the first next()
  double loops = 0;         // from the start of each epoch to the end of its last next()

  double total() const { return first + later; }
  std::optional<double> share_percent() const {
    return calls > 0 && loops > 0 ? std::optional(std::min(100.0, 100 * total() / loops)) : std::nullopt;
  }
};

// Fetches waiting for locks of one kind, over 100 µs each.
struct LockFinding {
  std::string name;         // "multiprocessing.Lock"
  std::uint64_t waits = 0;  // at least 1
  double total = 0;
  std::string op;  // the operation that waited longest, nested ones excluded; empty: outside of all
};

// The threads of processes that make batches. Of fetches in which all were measured; the first ones are not.
struct ThreadsFinding {
  std::uint64_t most = 0;  // of one process, 0: not known
  double fetch_wall = 0;   // of the fetches
  double fetch_cpu = 0;    // of the threads that make the batches
  double process_cpu = 0;  // of all threads of their processes meanwhile

  // How many threads of a process computed at once while it made a batch, on average.
  std::optional<double> at_once() const {
    return fetch_wall > 0 ? std::optional(process_cpu / fetch_wall) : std::nullopt;
  }
  // What the other threads computed, in percent of all.
  std::optional<double> others_percent() const {
    if (process_cpu <= 0) return std::nullopt;
    return std::max(0.0, 100 * (1 - fetch_cpu / process_cpu));
  }
};

// The process whose private memory grew most while it made batches; bytes.
struct MemoryFinding {
  std::uint32_t pid = 0;       // 0: there is none of which it is known twice
  double first = 0, last = 0;  // private; 0 at the fork of a worker
  double resident = 0;         // all that was resident at first, what is shared included
  double resident_growth = 0;  // meanwhile
  std::uint64_t batches = 0;   // that it made in between
  double faulted = 0;          // what its page faults can have made: a page each

  double growth() const { return last - first; }
  // What became private without becoming more: pages that were shared until it wrote to them. Where its
  // parent wrote to them, as training does to weights, the worker is left alone with the old ones, without a
  // fault.
  double copied() const { return std::min(growth(), faulted) - std::max(0.0, resident_growth); }
};

// Page faults of the processes that make batches, between their first and last look at the counters.
struct FaultsFinding {
  bool known = false;
  std::uint64_t minor = 0, major = 0;
  std::uint64_t batches = 0;  // that were made in between
  // Bytes read from storage, by epoch in which that was seen: the loaders' first ones and later ones.
  double read_first = 0, read_later = 0;
};

// The batches of a loader's first epoch, or of all later ones. Times in ns, sums.
struct EpochsFinding {
  std::uint64_t batches = 0;
  // Without the first batch of each process, which also imports modules and opens files:
  std::uint64_t measured = 0;
  double fetch = 0;
  double idle = 0;  // of `fetch`: neither computing nor waiting for a core, as far as that was measured
  // Bytes read from storage, not from the page cache; none: not known.
  std::optional<double> read{};
  double waited = 0;  // by training, inside next()
  double loop = 0;    // from the first next() of an epoch to the end of its last

  std::optional<double> mean_fetch() const { return each(fetch, measured); }
  std::optional<double> mean_idle() const { return each(idle, measured); }
  std::optional<double> mean_waited() const { return each(waited, batches); }
  std::optional<double> mean_read() const { return read ? each(*read, batches) : std::nullopt; }

 private:
  static std::optional<double> each(double sum, std::uint64_t count) {
    return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
  }
};

// A file that processes open again and again while they make batches.
struct ReopenedFinding {
  std::string path;
  std::uint64_t opens = 0;      // of all processes, as far as they told: at most half of them may be missing
  double bytes = 0;             // read from it meanwhile
  std::uint64_t processes = 0;  // that opened it several times
  // By its name, "a JSON file"; empty: not known. And the share of the CPU time of fetches, in [0, 1], in
  // functions that open, inflate and parse such files; none: no samples.
  std::string format{};
  std::optional<double> cpu_share{};

  std::uint64_t again() const { return opens - processes; }
};

// Garbage collections in processes that make batches.
struct GarbageFinding {
  bool known = false;
  std::uint64_t old = 0;      // of all objects
  std::uint64_t batches = 0;  // made by these processes
  std::uint64_t calls = 0;    // of gc.collect() in fetches, …
  double called = 0;          // … and what they took
  // Of fetches' CPU time, in [0, 1], by samples: these calls, and what Python collects by itself.
  std::optional<double> sampled{};
};

// Threads of processes that make batches waiting for the interpreter's lock (GIL).
struct InterpreterLockFinding {
  bool known = false;
  double waited = 0;      // by all threads of these processes, …
  double sending = 0;     // other threads of theirs pickled batches, and may have held it, …
  double fetch_wall = 0;  // … and the fetches in that time

  // How many threads of a process waited for it at once while it made a batch, on average; not for the
  // sending one.
  std::optional<double> at_once() const {
    return known && fetch_wall > 0 ? std::optional(std::max(0.0, waited - sending) / fetch_wall)
                                   : std::nullopt;
  }
};

// A function of the dataset's class that training steps called, outermost calls of 100 µs or more.
struct DatasetCall {
  std::string name;  // from Python 3.11 with its class
  std::uint64_t calls = 0;
  double total = 0;
};

// How workers came into being. Sums, in ns.
struct StartsFinding {
  std::uint64_t workers = 0;   // whose start is recorded
  std::uint64_t executed = 0;  // of these: spawned, or forked from a server, and so unpickled
  double process = 0;          // from the fork or execution of the process to the worker's loop
  double importing = 0;        // of it, of those who imported PyTorch themselves: from there on
  double unpickling = 0;       // of it: their dataset and what else multiprocessing hands over
  double prepare = 0;          // from there until it could make batches: worker_init_fn, iter(dataset)
  double pickling = 0;         // in the process that starts them: what they unpickle, …
  double pickled_bytes = 0;    // … so many bytes

  double mean(double sum) const { return workers > 0 ? sum / static_cast<double>(workers) : 0; }
};

struct Facts {
  // Of all dataset_calls.
  double in_steps() const {
    double sum = 0;
    for (const DatasetCall& call : dataset_calls) sum += call.total;
    return sum;
  }

  SamplerFinding sampler;
  std::vector<LockFinding> locks;  // longest waited for first
  ThreadsFinding threads;
  MemoryFinding memory;
  FaultsFinding faults;
  GarbageFinding garbage;
  InterpreterLockFinding interpreter_lock;
  StartsFinding starts;
  std::vector<DatasetCall> dataset_calls;  // longest first
  std::vector<ReopenedFinding> reopened;   // most often opened first
  double read_in_fetches = 0;              // bytes, of all files
};

}  // namespace lotus::analyzer
