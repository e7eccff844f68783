// What threads were in the middle of when their process ended: killed, crashed, out of memory.
#pragma once

#include "answers/report/findings.hpp"
#include "reading/model/iteration.hpp"
#include "reading/model/span.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

// Takes up a thread that has open spans at the end of the trace. Workers that wait for work are mostly ended
// so, and their threads that hand on batches, too: these are left out, and processes whose end is not known.
void add_cut_short(const Trace& trace, const Stream& stream, Findings& findings);

// Of a training process that a signal ended, with no span open: `last` is its latest iteration, `batch` the
// last batch that it got.
CutShort killed_training(const Trace& trace, const Process& process, const Iteration& last,
                         std::optional<std::uint64_t> batch);

}  // namespace lotus::analyzer
