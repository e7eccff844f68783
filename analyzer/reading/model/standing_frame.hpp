// A Python frame of a thread that stood still when the collector looked at it.
#pragma once

#include <cstdint>
#include <string>

namespace lotus::analyzer {

struct StandingFrame {
  std::string function, file;
  std::uint64_t line = 0;  // that is executed; 0: not known
};

}  // namespace lotus::analyzer
