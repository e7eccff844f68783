// A whole trace, from its first record to its last.
#pragma once

#include "reading/model/reading.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

// Reads the trace through the model, with progress on a terminal. Unless `quiet`, warns on stderr, once for
// each file, of missing parts.
Reading read_trace(Trace& trace, Visitor& visitor, bool quiet = false);

}  // namespace lotus::analyzer
