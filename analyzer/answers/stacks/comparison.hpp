// A comparison of two runs: the changes that are larger than chance.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "answers/counters/comparison.hpp"
#include "answers/stacks/costs.hpp"
#include "answers/stats/difference.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer {

struct FunctionComparison {
  NamedFrame frame;
  Difference cpu;
};

struct OpComparison {
  std::string name;
  std::uint64_t calls_before = 0, calls_after = 0;  // 0: the run does not have it
  Difference wall, cpu;
  bool by_clock =
      false;  // cpu is that of the threads' clock, nested operations included; else by samples, without
  std::vector<FunctionComparison> functions;  // greatest change first
  bool in_both() const { return calls_before > 0 && calls_after > 0; }
  // Of an operation that one run has: all its calls, ns.
  double total() const {
    return wall.before.mean * static_cast<double>(calls_before) +
           wall.after.mean * static_cast<double>(calls_after);
  }
};

// A batch of training.
struct LoopComparison {
  LoopCost before, after;
  Difference batch, wait, step, fetch;
  bool in_both() const { return before.batch.count() > 0 && after.batch.count() > 0; }
};

struct Comparison {
  std::string before, after;  // file names
  bool sampled = false;       // both runs have samples of stacks
  std::string unfinished;     // a file that lacks its end, and with it names of functions; empty: none
  std::uint64_t quantities = 0;
  LoopComparison loop;
  std::vector<OpComparison> ops;  // greatest change of time first
  // Not compared, since one of the runs lacks names: libraries' functions, and operations.
  std::set<std::string> unnamed_libraries;
  std::uint64_t unnamed_ops = 0;
  CounterComparison counters;
};

// All intervals together hold the true values with 95 % probability (Bonferroni), as far as samples show
// them. Differences between runs that no sample shows, as the machine's temperature or other programs, are
// not included.
// `counters`: not judged yet.
Comparison compare(const Costs& before, const Costs& after, const FrameTable& frames,
                   CounterComparison counters = {});

nlohmann::ordered_json comparison_json(const Comparison& comparison);
std::string comparison_text(const Comparison& comparison, const Terminal& terminal);

}  // namespace lotus::analyzer
