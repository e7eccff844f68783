// What a trace has for the replay, and nothing else of it.
#pragma once

#include <vector>

#include "answers/replay/recording.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

// Of all loaders, longest waited for first. `quiet`: see read_trace().
std::vector<Recording> recordings_of(Trace& trace, bool quiet = false);

}  // namespace lotus::analyzer
