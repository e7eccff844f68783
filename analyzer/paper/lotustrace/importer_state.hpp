// The importer's state of a process, of a worker's log and of a training process. Private to
// importer*.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "paper/lotustrace/import_plan.hpp"
#include "paper/lotustrace/main_steps.hpp"
#include "paper/lotustrace/worker_blocks.hpp"
#include "reading/writer/thread_writer.hpp"

namespace lotus::analyzer::lotustrace {

inline constexpr std::uint32_t kMainStream = 1, kPinStream = 2;

inline std::uint64_t ticks_of(std::int64_t ns) { return static_cast<std::uint64_t>(ns); }
inline ClockPair pair_of(std::int64_t ns) { return {ticks_of(ns), ticks_of(ns)}; }

struct WrittenProcess {
  WrittenProcess(TraceWriter& file, std::uint32_t own_number, std::uint32_t own_pid)
      : number(own_number),
        pid(own_pid),
        main(file, own_number, kMainStream),
        pin(file, own_number, kPinStream) {}

  std::uint32_t number, pid;
  ThreadWriter main, pin;
  std::map<std::string, std::uint64_t> ops;  // ids by role and name
  std::int64_t now = 0;                      // of the last record of the main thread
  bool working = false;                      // a worker loop is open
};

// The epoch that a batch is made for.
struct FetchPurpose {
  std::uint64_t iterator = 0, reset = 0;  // iterator 0: the batch is a worker's own
  std::int64_t until = INT64_MAX;         // the training process, which makes it itself, waits no longer
};

// A worker's log and its next batch.
struct WorkerLog {
  WorkerLog(const LogFile& log, const std::vector<std::size_t>& epochs)
      : file(log), blocks(log), epoch_of(epochs) {}

  const LogFile& file;
  WorkerBlocks blocks;
  const std::vector<std::size_t>& epoch_of;  // of each batch in it
  Block block;
  bool ready = false, ended = false;  // `block` is the next one; there is none

  // The epoch of the next batch. Lines behind the last batch belong to the last epoch.
  std::size_t epoch() const {
    if (block.place && *block.place < epoch_of.size()) return epoch_of[*block.place];
    return epoch_of.empty() ? 0 : epoch_of.back();
  }
};

struct TrainingLog {
  explicit TrainingLog(const PlannedTraining& training) : plan(training) {}

  const PlannedTraining& plan;
  std::vector<Step> steps;  // of all epochs, in order of time
  std::size_t done = 0;     // of these
  struct Pin {
    Stamp stamp;
    BatchName batch;
  };
  std::vector<Pin> pins;

  const PlannedEpoch* epoch_of(const BatchName& batch) const {
    for (const auto& epoch : plan.epochs)
      if (epoch.iterator == batch.iterator && epoch.reset == batch.reset) return &epoch;
    return nullptr;
  }
};

}  // namespace lotus::analyzer::lotustrace
