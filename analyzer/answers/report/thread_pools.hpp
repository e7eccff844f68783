// Whose thread pools help the workers: by the libraries in the stacks of threads that record nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reading/trace/stack_table.hpp"

namespace lotus::analyzer {

struct PoolFinding {
  std::string name;    // of the pool: OpenMP, OpenCV …, else the file of the library
  std::string remedy;  // how to give it one thread; empty: not known
  double ns = 0;       // CPU time, by stack samples
};

class PoolsCollector {
 public:
  // A sample of a helping thread.
  void add(std::uint64_t stack, double ns) { by_stack_[stack] += ns; }
  // After the last record of a trace, whose stacks these are.
  void end(const StackTable& stacks);
  // The pool with the most CPU time first.
  std::vector<PoolFinding> take() const;

 private:
  std::map<std::uint64_t, double> by_stack_;  // of the current trace
  std::map<std::string, PoolFinding> pools_;
};

}  // namespace lotus::analyzer
