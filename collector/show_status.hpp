// `lotus-collector --status`: which collector serves which directory, and the status that it published.
#pragma once

#include <string>

#include "options.hpp"

namespace lotus::collector {

// Prints it to standard output; changes nothing. kDone: a collector serves; else kNobodyServes or kFailed.
ExitCode show_status(const Options& options);

}  // namespace lotus::collector
