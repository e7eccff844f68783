// Calls of Python functions that the tracer has seen.
#pragma once

#include <cstdint>

namespace lotus::analyzer {

struct PythonCalls {
  std::uint64_t count = 0;
  std::uint64_t ns = 0;  // what the tracer made them longer by, estimated

  void add(const PythonCalls& other) {
    count += other.count;
    ns += other.ns;
  }
};

}  // namespace lotus::analyzer
