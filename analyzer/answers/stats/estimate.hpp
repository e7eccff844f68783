// An estimate and how far to trust it.
#pragma once

#include <limits>

namespace lotus::analyzer {

// A mean and its standard error, and with how many degrees of freedom the error was estimated.
struct Estimate {
  double mean = 0, error = 0;
  double freedom = std::numeric_limits<double>::infinity();
};

}  // namespace lotus::analyzer
