// The input of a replay: the settings of a DataLoader, and the costs of its batches and of training's steps.
// Times in ns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/replay/recording.hpp"

namespace lotus::analyzer {

struct Settings {
  std::uint64_t workers = 0, prefetch = 2;
  bool in_order = true, pin_memory = false, persistent = false;
  double cores = 1;
};

struct PlannedBatch {
  double cpu = 0, idle = 0;  // of the fetch: computing; sleeping, reading
  double held = 0;           // the share of both in which it has the lock of all workers
  double transfer_cpu = 0, transfer_idle = 0;
  double pipe = 0;  // then: has the pipe for itself, while the receiver reads
  double receive = 0, pin = 0;
  double pause = 0;          // of its worker after it
  std::uint32_t slices = 1;  // computing and sleeping take turns this often
};

struct PlannedStep {
  double cpu = 0;  // of each of its threads
  double idle = 0;
  double threads = 1;
};

struct PlannedEpoch {
  std::vector<PlannedBatch> batches;  // in the order in which they are asked for
  std::vector<PlannedStep> steps;     // one per batch that training gets
  double start = 0;                   // of __iter__
  std::vector<double> ready;          // by worker, from the call of __iter__
  double finish = 0;                  // of the last __next__
  double weight = 1;                  // batches that one of `steps` stands for
};

struct Plan {
  Settings settings;
  Overheads overheads;
  std::vector<double> slowness;  // by worker
  std::vector<PlannedEpoch> epochs;
  double images = 0;  // of the whole run
  double weight = 1;  // epochs that one of `epochs` stands for
};

// A changed cost: `factor` times the recorded one, or `ns` per call.
struct Change {
  std::optional<double> factor, ns;

  // The factor for calls that took `mean` ns.
  double of(double mean) const { return ns ? (mean > 0 ? *ns / mean : 1) : factor.value_or(1); }
};

// The name under which a question changes what fetches do outside of all operations.
inline constexpr const char* kOwnCode = "(outside ops)";

// What a fetch does outside of all operations, ns. It computes for what its operations leave of the fetch's
// CPU time.
struct OwnCode {
  double wall = 0, cpu = 0;
};
OwnCode own_code_of(const Recording& recording, const RecordedBatch& batch);

struct OpChange {
  std::string name;
  Change change;
  bool only_idle = false;  // its CPU time stays as recorded
};

// A question to the replay. Settings that are not given are as recorded.
struct Question {
  std::optional<std::uint64_t> workers, prefetch, cores;
  std::optional<bool> in_order, pin_memory, persistent;
  std::vector<OpChange> ops;
  Change step;
  Change fetch;                  // all that making batches takes
  bool even_workers = false;     // no worker is slower than the others
  bool instant_receive = false;  // receiving costs training no time
  bool shared_memory = false;    // batches go through shared memory, not through the pipe
  bool instant_own = false;      // __next__ does nothing itself but wait: no sampler
  bool no_lock = false;          // workers do not wait for each other
};

// What the replay of a recording finds out about it.
struct Calibration {
  // The share of sleeping in the time in which a fetch or step did not compute; the rest is waiting for a
  // core.
  double fetch_idle = 1, step_idle = 1;
  // The same, as far as fetches tell how long they waited for a core: for those that do not tell.
  double sleeping = 1;
  // How many times slower than on an idle machine fetches computed, because other programs used the cores as
  // well.
  double crowding = 1;
  // The share of a fetch, without waiting, in which it has the lock that all workers share.
  double held = 0;
  // The share of its time without computing in which it waits for that lock, where waits were not recorded.
  double lock_wait = 0;
  // The share that was not waiting for a core: of a worker's pauses between fetches, and of what handing over
  // indices and batches took.
  double pauses = 1, overheads = 1;
};

// What a recording leaves open: factors of what fetches compute, of their other time, of what pickling what
// now goes through shared memory takes, and of what is assumed where nothing was recorded. The interval of an
// answer holds the answers to all its doubts.
struct Doubt {
  double computing = 1, idle = 1, pickling = 1, assumed = 1;
  bool independent = false;  // workers do not wait for each other
};

// A batch whose writing to the pipe takes this long, ns, goes through it itself, instead of through shared
// memory. One worker writes at a time, so it keeps the others waiting.
inline constexpr double kThroughPipe = 1e6;

// The most batches that are planned; they represent all others.
inline constexpr std::uint64_t kMostPlanned = 2048;

Settings settings_of(const Recording& recording, const Question& question);
Plan plan_of(const Recording& recording, const Question& question, const Calibration& calibration,
             const Doubt& doubt = {});

// Names of the operations of the recording's fetches, by time, longest first.
std::vector<std::string> op_names(const Recording& recording);
// Names of the operations that run, directly or indirectly, inside of those named `name`. Their time is not
// part of the outer operation's.
std::vector<std::string> nested_in(const Recording& recording, const std::string& name);
// Mean self time of a call of the operations of that name; none: no such operation. Of kOwnCode: of a fetch.
std::optional<double> mean_of_op(const Recording& recording, const std::string& name);
// Mean length of a training step.
double mean_step(const Recording& recording);

}  // namespace lotus::analyzer
