// The facts of other tools about a run, which an importer stored in the trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lotus::analyzer {

// A native function runs in an operation. `library`: base name.
struct MappedFunction {
  std::string op, function, library;

  bool operator==(const MappedFunction&) const = default;
};

// A profiler's counter of a native function, over the whole run.
struct Counter {
  std::string function, library;  // library: empty where the profiler does not say it
  std::string name;               // of the counter
  double value = 0;
  bool percent = false;  // of the function's clockticks

  bool operator==(const Counter&) const = default;
};

struct Imported {
  std::string configuration;  // name; empty: none
  std::uint64_t ranks = 0;    // GPUs or training processes; 0: not known
  std::vector<MappedFunction> mapped;
  std::vector<Counter> counters;
};

}  // namespace lotus::analyzer
