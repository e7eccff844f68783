// The data of one trace that tables and figures need.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "answers/report/findings.hpp"
#include "answers/stacks/profile.hpp"
#include "paper/split/split.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

// The configuration of a run: that of the loader that handed out most batches.
struct RunConfiguration {
  std::string label;                          // of several runs, each has its own
  std::string file;                           // of the trace
  std::string dataset;                        // class; empty: not known
  std::uint64_t batch_size = 0, workers = 0;  // batch_size 0: not known
  std::uint64_t ranks = 0;                    // GPUs or training processes
};

// Times in ns of the realtime clock.
struct RunBatch {
  std::uint64_t epoch = 0, batch = 0;
  std::uint32_t worker = 0;  // process id; 0: not known
  std::optional<std::int64_t> fetch_start, fetch_ns, wait_start, wait_ns, consumed, delay_ns;
  bool out_of_order = false;
};

struct RunEpoch {
  std::uint64_t epoch = 0;
  double seconds = 0;  // from its first __next__ to the end of its last
};

struct MappedShare {
  MappedFunction function;
  std::optional<double> share_percent, low_percent,
      high_percent;  // of the operation's CPU time; imported: none
  std::optional<double>
      calls_to_see;  // of the operation, until a sample hits the function with 75 % probability
};

struct RunData {
  RunConfiguration configuration;
  std::uint32_t training_pid = 0;
  std::map<std::uint32_t, std::uint64_t> worker_ids;  // by process id
  std::vector<RunBatch> batches;                      // of that loader, by epoch and number
  std::vector<RunEpoch> epochs;                       // of that loader
  Findings findings;                                  // of the whole trace
  std::vector<MappedShare> mapping;    // what an importer stored, else what was sampled and listed
  std::vector<CounterSplit> counters;  // CPU time first, where it is known
  std::shared_ptr<const Trace> trace;  // which `findings` points into
};

// Reads the trace. Throws Unusable.
RunData read_run(const std::string& path);
// The same of several, with labels that differ.
std::vector<RunData> read_runs(const std::vector<std::string>& paths);

}  // namespace lotus::analyzer
