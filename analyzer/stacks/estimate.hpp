// An estimate and how far to trust it.
#pragma once

namespace lotus::analyzer {

// A mean and its standard error, in ns.
struct Estimate {
  double mean = 0, error = 0;
};

}  // namespace lotus::analyzer
