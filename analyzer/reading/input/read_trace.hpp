// A whole trace, from its first record to its last.
#pragma once

#include "reading/model/reading.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

// Streams the trace through the model, with progress on a terminal. Says on stderr, once for each file, what
// is missing of it, unless `quiet`.
Reading read_trace(Trace& trace, Visitor& visitor, bool quiet = false);

}  // namespace lotus::analyzer
