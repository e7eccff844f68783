// The trace of a run before this one.
#pragma once

#include <string>

#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

// The latest trace in the same directory of an earlier run of the same command line in which nothing was
// tried; empty if there is none among the newest files.
std::string former_trace_of(const Trace& trace);

}  // namespace lotus::analyzer
