// Counters of native functions, split over the operations that run them.
//
// The research system's definition: a function c that the operations O(c) share is split by the weights
// weight(p) = T(p) / Σ T(o), o in O(c), where T is an operation's total elapsed time in that run. A counter
// that is a percentage is first made absolute: times the function's clockticks. (Its published scripts then
// replace each function's value by the configuration's total over that function's CPU time; that is no split,
// and not done.)
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reading/trace/imported.hpp"

namespace lotus::analyzer {

using OpSeconds = std::map<std::string, double>;  // T, by name of the operation

struct FunctionSplit {
  std::string function, library;
  double value = 0;  // absolute, over the whole run
  std::map<std::string, double> by_op;
  double unmapped = 0;  // no operation is known to run the function
};

struct CounterSplit {
  std::string name;
  bool percent = false;                  // was a share; values are clockticks now
  std::vector<FunctionSplit> functions;  // largest first
  std::map<std::string, double> by_op;   // sums
  double unmapped = 0;
};

// In order of the counters' first appearance. A function without a library counts for all libraries of the
// mapping. Throws Unusable where there is a percentage of a function and no clockticks of it.
std::vector<CounterSplit> split_counters(const std::vector<Counter>& counters,
                                         const std::vector<MappedFunction>& mapped, const OpSeconds& elapsed);

}  // namespace lotus::analyzer
