// Writes what is left of a damaged trace as a trace that is whole again.
#pragma once

#include "care/recover/contents.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {

struct Rebuilt {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
};

// Writes the frames of `contents`, which were found in `source`, with everything that a trace must have
// around them. Events that are gone count as lost there: in the chunk behind them, at their process's end,
// and in the trailer.
Rebuilt write_recovered(const Source& source, const Contents& contents, Output& out);

}  // namespace lotus::analyzer
