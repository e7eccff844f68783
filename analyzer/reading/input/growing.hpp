// Traces that a collector is still writing.
#pragma once

#include <string>

namespace lotus::analyzer {

// Whether a collector holds the trace open. Also false if this cannot be determined.
bool is_being_written(const std::string& path);

// If the traced program has ended and its collector is about to close the trace (it names functions first),
// waits for that, some seconds at most. Returns at once if the trace is closed, or the program still runs.
void wait_until_closed(const std::string& path);

}  // namespace lotus::analyzer
