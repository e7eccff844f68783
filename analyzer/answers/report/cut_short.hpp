// The work that threads had not finished when their process ended: killed, crashed, out of memory.
#pragma once

#include "answers/report/findings.hpp"
#include "reading/model/iteration.hpp"
#include "reading/model/span.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

// Adds a thread that has open spans at the end of the trace. Left out are workers that wait for work and
// their feeder threads, since that is how they normally end, and processes whose end is not known.
void add_cut_short(const Trace& trace, const Stream& stream, Findings& findings);

// Adds a thread whose innermost span was open for five seconds and more when the collector looked at it last.
void add_stuck(const Trace& trace, const Stream& stream, Findings& findings);

// The entry of a training process that a signal ended without an open span. `last`: its latest iteration;
// `batch`: the last batch that it got.
CutShort killed_training(const Trace& trace, const Process& process, const Iteration& last,
                         std::optional<std::uint64_t> batch);

}  // namespace lotus::analyzer
