// The stack samples of a trace, with the names of their functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/trace_reader.hpp"

namespace lotus::test {

struct SampleFrame {
  std::string function;  // empty: the trace does not name it
  std::string binary;    // path, empty for a Python function
  std::uint64_t offset = 0;
  NameSource source{};
};

struct Sample {
  std::uint32_t process = 0;
  std::uint64_t ticks = 0;
  std::uint64_t tid = 0, op = 0, flags = 0, weight = 0;
  std::vector<SampleFrame> frames;  // innermost first; inlined functions are frames too

  // The names of up to `count` innermost functions: "inner < outer".
  std::string innermost(std::size_t count) const;
};

// All samples in file order. Throws std::runtime_error if one uses an id that is not defined before it.
std::vector<Sample> read_samples(const Trace& trace);

}  // namespace lotus::test
