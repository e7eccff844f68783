// Who serves a directory of segments now.
#pragma once

#include <cstdint>

namespace lotus {

struct Serving {
  bool held = false;               // a collector holds the directory's lock
  std::uint32_t pid = 0;           // of it; 0: not known
  bool reads_our_segments = true;  // false: it is of another version, and leaves them alone
};

/// Safe in handlers of signals.
Serving serving(const char* directory);

}  // namespace lotus
