// What a run did beside its operations, as far as it was recorded. Times in ns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace lotus::analyzer {

// The training processes asking their samplers which samples make the next batch.
struct SamplerFinding {
  std::uint64_t calls = 0;  // of the samplers and their iterators; 0: nothing of it was recorded
  double first = 0;         // making the samplers' iterators, and drawing the first batch of each epoch
  double later = 0;         // drawing all others
  double waited = 0;        // of both: inside next(); the rest was before the first next()
  double loops = 0;         // from the start of each epoch to the end of its last next()

  double total() const { return first + later; }
  std::optional<double> share_percent() const {
    return calls > 0 && loops > 0 ? std::optional(std::min(100.0, 100 * total() / loops)) : std::nullopt;
  }
};

struct Facts {
  SamplerFinding sampler;
};

}  // namespace lotus::analyzer
