// What stays in memory from step to step.
#pragma once

#include <cstdint>
#include <vector>

#include "answers/memory/groups.hpp"

namespace lotus::analyzer::memory {

// What PyTorch's allocator had given out where steps begin, the run's first step left out.
struct Level {
  std::uint64_t step = 0, bytes = 0;
};

enum class Trend : std::uint8_t {
  unknown,  // too few steps are recorded
  flat,     // in the end it is as in the beginning
  rises,    // all along
  varies,   // anything else: it may be a buffer that fills, or what is made once
};

struct Growth {
  std::uint64_t steps = 0;       // whole steps that were followed by a whole one, the run's first left out
  double bytes_per_step = 0;     // of `groups`, at least
  std::vector<Group> groups;     // that all of them leave behind, per step, largest first
  std::vector<Group> sometimes;  // that some leave behind, the most that one does, largest first
  bool keeps_graphs = false;     // most of `groups` is what only autograd's graph holds
  Trend trend = Trend::unknown;
  std::vector<Level> levels;
};

Growth growth_of(const std::vector<RecordedStep>& steps, const Process* process);

}  // namespace lotus::analyzer::memory
