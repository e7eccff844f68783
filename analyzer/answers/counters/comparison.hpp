// What counters counted in two runs: per call of each operation, and per fetch.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "answers/counters/findings.hpp"
#include "answers/stats/difference.hpp"

namespace lotus::analyzer {

struct CounterChange {
  std::optional<std::string> op;  // by name; none: a fetch
  std::string counter;
  Difference per_call;
};

struct CounterComparison {
  std::vector<CounterChange> changes;  // of what both runs counted, by operation and counter
  // Counters that are not compared: one of the runs does not have them, or one of them lacks the kernel's
  // part.
  std::set<std::string> only_before, only_after, of_other_parts;
  std::set<std::string> processors_before, processors_after;

  // Of different processors cycles, misses and slots differ without a change of the program.
  bool other_processors() const { return processors_before != processors_after; }
};

// Without intervals yet: judge() makes them.
CounterComparison compare_counters(const CounterFindings& before, const CounterFindings& after);

}  // namespace lotus::analyzer
