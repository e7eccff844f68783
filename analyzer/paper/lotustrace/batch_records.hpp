// The batch records of a log directory, joined by batch and epoch. In the original's logs an epoch is not
// named: batches are numbered anew in each, in the same files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "paper/lotustrace/log_files.hpp"

namespace lotus::analyzer::lotustrace {

struct Stamp {
  std::int64_t start = 0, duration = 0;
  std::uint64_t line = 0;  // in its file, from 1

  std::int64_t end() const { return start + duration; }
};

struct LoggedBatch {
  std::optional<Stamp> preprocessed, wait, consumed, queued, pinned;
  std::size_t worker = 0;  // if preprocessed: position among the directory's workers

  bool out_of_order() const { return wait && wait->duration == kInstantNs; }
};

struct LoggedEpoch {
  std::map<std::uint64_t, LoggedBatch> batches;  // by number
  std::int64_t end = 0;                          // start of its last record of the training process
};

struct BatchRecords {
  std::vector<LoggedEpoch> epochs;
  // Of each worker, the epoch of each of its Preprocessed records, in order of the file.
  std::vector<std::vector<std::size_t>> epoch_of;
  struct Extent {
    std::int64_t first = INT64_MAX, last = INT64_MIN;
    void add(std::int64_t start, std::int64_t end) {
      first = start < first ? start : first;
      last = end > last ? end : last;
    }
    bool any() const { return first <= last; }
  };
  std::vector<Extent> workers;  // of all of their records
  std::uint64_t most_samples =
      0;  // of a batch, by its Loader records, else by repetitions of its first operation
  Extent main;
  bool in_order = true;  // batches were consumed in order of their numbers
};

// Reads all files of the directory once. Throws Unusable where a batch was made twice in an epoch: two runs.
BatchRecords read_batches(const LogDirectory& logs, Complaints& complaints);

}  // namespace lotus::analyzer::lotustrace
