#include "paper/tables/own_counters.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace lotus::analyzer {
namespace {

// What the research system shows first: slots lost to the front end, and to memory.
constexpr std::string_view kFirst[] = {
    "topdown-fe-bound",
    "de_no_dispatch_per_slot.no_ops_from_frontend",
    "stall_slot_frontend",
    "topdown-mem-bound",
    "de_no_dispatch_per_slot.backend_stalls",
    "stall_slot_backend",
    "cache-misses",
    "LLC-load-misses",
    "branch-misses",
    "dTLB-load-misses",
    "instructions",
    "page-faults",
};

std::size_t place_of(const std::string& counter) {
  return static_cast<std::size_t>(
      std::distance(std::begin(kFirst), std::find(std::begin(kFirst), std::end(kFirst), counter)));
}

// Native functions, as figures of CPU time have them.
CounterSplit split_of(const std::string& counter, const FunctionCounts& sampled) {
  CounterSplit split{counter, false, {}, {}, 0};
  for (const CountedFunction& function : sampled.functions) {
    const auto own = function.own.counters.find(counter);
    if (function.frame.part != Part::native) continue;
    if (own == function.own.counters.end() || own->second.sum <= 0) continue;
    FunctionSplit row{function.frame.name, function.frame.library, own->second.sum, {}, own->second.sum};
    for (const auto& [op, counts] : function.by_op) {
      const auto of_op = counts.find(counter);
      if (of_op == counts.end() || of_op->second <= 0) continue;
      row.by_op[op] = of_op->second;
      row.unmapped -= of_op->second;
      split.by_op[op] += of_op->second;
    }
    row.unmapped = std::max(0.0, row.unmapped);
    split.unmapped += row.unmapped;
    split.functions.push_back(std::move(row));
  }
  std::stable_sort(split.functions.begin(), split.functions.end(),
                   [](const FunctionSplit& a, const FunctionSplit& b) { return a.value > b.value; });
  return split;
}

// What was measured in calls says more of an operation than samples do: one that only waits has none.
void use_measured(CounterSplit& split, const CounterFindings& measured) {
  std::map<std::string, double> by_op;
  for (const auto& [op, calls] : measured.ops)
    if (const auto total = calls.total(split.name); total && total->value > 0) by_op[op.name] += total->value;
  if (!by_op.empty()) split.by_op = std::move(by_op);
}

}  // namespace

void add_own_counters(std::vector<CounterSplit>& counters, const FunctionCounts& sampled,
                      const CounterFindings& measured) {
  std::vector<CounterSplit> own;
  for (const auto& [name, state] : measured.counters) {
    CounterSplit split = split_of(name, sampled);
    use_measured(split, measured);
    if (!split.functions.empty() || !split.by_op.empty()) own.push_back(std::move(split));
  }
  std::stable_sort(own.begin(), own.end(), [](const CounterSplit& a, const CounterSplit& b) {
    return place_of(a.name) < place_of(b.name);
  });
  std::move(own.begin(), own.end(), std::back_inserter(counters));
}

bool is_own_time(const std::string& name) { return name == "task-clock" || name == "cycles"; }

}  // namespace lotus::analyzer
