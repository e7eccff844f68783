// What threads were in the middle of when their process ended: killed, crashed, out of memory.
#pragma once

#include "model/span.hpp"
#include "report/findings.hpp"
#include "trace/trace.hpp"

namespace lotus::analyzer {

// Takes up a thread that has open spans at the end of the trace. Workers that wait for work are mostly ended
// so, and their threads that hand on batches, too: these are left out, and processes whose end is not known.
void add_cut_short(const Trace& trace, const Stream& stream, Findings& findings);

}  // namespace lotus::analyzer
