// The exceptions by which commands of the analyzer fail.
#pragma once

#include <stdexcept>

namespace lotus::analyzer {

// The trace cannot be used at all: exit code 1. what() names the file, the place and the remedy.
struct Unusable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The command line asks for something that does not exist: exit code 2.
struct WrongUsage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace lotus::analyzer
