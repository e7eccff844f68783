// `lotus-collector --status`: who serves which directory, and what it says about itself.
#pragma once

#include <string>

#include "options.hpp"

namespace lotus::collector {

// Prints it to standard output; touches nothing. kDone: somebody serves, kNobodyServes, or kFailed.
ExitCode show_status(const Options& options);

}  // namespace lotus::collector
