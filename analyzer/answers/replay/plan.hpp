// What is replayed: the settings of a DataLoader, and what its batches and training's steps cost. Times in
// ns.
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
  double transfer_cpu = 0, transfer_idle = 0;
  double receive = 0, pin = 0;
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

// A changed cost: so many times the recorded one, or so many ns a call.
struct Change {
  std::optional<double> factor, ns;

  // The factor, where a call took `mean` ns.
  double of(double mean) const { return ns ? (mean > 0 ? *ns / mean : 1) : factor.value_or(1); }
};

struct OpChange {
  std::string name;
  Change change;
  bool only_idle = false;  // what it computes stays
};

// What is asked. Settings that are not given are as recorded.
struct Question {
  std::optional<std::uint64_t> workers, prefetch, cores;
  std::optional<bool> in_order, pin_memory, persistent;
  std::vector<OpChange> ops;
  Change step;
  bool even_workers = false;     // none is slower than the others
  bool instant_receive = false;  // training gets a batch without any work of its own
};

// How much of the time in which a recorded fetch or step did not compute it slept; the rest it waited for
// a core. How much slower than on an idle machine fetches computed: other programs wanted the cores as well.
struct Calibration {
  double fetch_idle = 1, step_idle = 1, crowding = 1;
};

// At most so many batches are planned in all; more are represented by these.
inline constexpr std::uint64_t kMostPlanned = 2048;

Settings settings_of(const Recording& recording, const Question& question);
Plan plan_of(const Recording& recording, const Question& question, const Calibration& calibration);

// Names of the operations of the recording's fetches, those that took longest first.
std::vector<std::string> op_names(const Recording& recording);
// Names of the operations that run inside of those of that name, by whatever way. The time of an operation
// does not hold theirs.
std::vector<std::string> nested_in(const Recording& recording, const std::string& name);
// Mean self time of a call of the operations of that name; none: no such operation.
std::optional<double> mean_of_op(const Recording& recording, const std::string& name);
// Mean length of a training step.
double mean_step(const Recording& recording);

}  // namespace lotus::analyzer
