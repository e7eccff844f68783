// The plan of an import: the training processes with loaders and epochs, and the workers of the new trace.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "paper/lotustrace/batch_records.hpp"

namespace lotus::analyzer::lotustrace {

// Facts that the user gives; 0: take it from the directory's name, or from the logs.
struct KnownFacts {
  std::uint64_t batch_size = 0, workers = 0, ranks = 0;
};

struct PlannedLoader {
  std::uint64_t id = 0, workers = 0, most_samples = 0;  // most_samples: of a batch; 0: not known
  bool pinned = false;
  bool persistent = false;  // one iterator for all epochs; else one each
  bool in_order = true;
};

struct PlannedEpoch {
  std::size_t directory = 0, epoch = 0;  // in the run, in the directory's records
  std::uint64_t loader = 0, number = 0;  // epochs of a loader count from 0
  std::uint64_t iterator = 0, reset = 0;
  std::int64_t first = 0, last = 0;  // of its batches' records
};

struct PlannedTraining {
  std::uint32_t pid = 0;  // 0: its log is missing
  std::vector<PlannedLoader> loaders;
  std::vector<PlannedEpoch> epochs;  // in order of time
};

struct PlannedWorker {
  struct File {
    std::size_t directory, worker;  // position among the directory's workers
  };
  struct Link {
    std::uint32_t training;
    std::uint64_t iterator, id;
  };
  std::vector<File> files;  // in order of time
  std::vector<Link> links;
  std::uint64_t id = 0;  // in the first of them
  BatchRecords::Extent extent;
};

struct Plan {
  std::vector<PlannedTraining> trainings;
  std::map<std::uint32_t, PlannedWorker> workers;  // by process id, without training processes
  std::int64_t first = 0, last = 0;                // of all records
};

// `records`: of each directory of the run.
Plan plan_of(const Run& run, const std::vector<BatchRecords>& records);

}  // namespace lotus::analyzer::lotustrace
