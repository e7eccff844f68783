// Traces that a collector still writes.
#pragma once

#include <string>

namespace lotus::analyzer {

// Whether a collector holds the trace open. False too where that cannot be told.
bool is_being_written(const std::string& path);

// Where the traced program has ended and its collector is about to close the trace (it names functions then),
// waits for that, some seconds at most. Returns at once for a trace that is closed, and while the program
// runs.
void wait_until_closed(const std::string& path);

}  // namespace lotus::analyzer
