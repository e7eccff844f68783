// When memory was made of which a step does not show who made it.
#pragma once

#include <cstdint>
#include <vector>

#include "answers/memory/recorded_step.hpp"

namespace lotus::analyzer::memory {

// Bytes that no operator of a step uses, and that no recorded step before it is known to have made.
struct Untold {
  std::uint64_t bytes = 0;
  std::uint64_t at_first = 0;  // in use when the process's first recorded step began
  std::uint64_t since = 0;     // of `bytes`, at least so many came after that
  std::uint64_t between = 0;  // by how much memory in use rose from the end of one recorded step to the begin
                              // of the next one, where others lay between them, until then
  bool gaps = false;          // others lay between some of them
};

// Of a step whose level is known.
Untold untold_of(const std::vector<RecordedStep>& steps, const RecordedStep& step, std::uint64_t bytes);

}  // namespace lotus::analyzer::memory
