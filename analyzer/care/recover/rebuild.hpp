// Writes the readable parts of a damaged trace as a complete trace.
#pragma once

#include "care/recover/contents.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {

struct Rebuilt {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

// Writes the frames of `contents`, which were found in `source`, and adds the other frames that a trace must
// have. Missing events are counted as lost: in the chunk behind them, at their process's end, and in the
// trailer.
Rebuilt write_recovered(const Source& source, const Contents& contents, Output& out);

}  // namespace lotus::analyzer
