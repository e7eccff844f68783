// Waiting for the interpreter's lock (GIL).
#pragma once

#include <cstdint>

namespace lotus {

// Of all threads of this process, waits for a whole switch interval, since it or the process that it was
// forked from was watched.
struct InterpreterLockWaits {
  std::uint64_t count = 0;
  std::uint64_t ticks = 0;
};

// From now on waits are counted. Hold the GIL.
void watch_interpreter_lock();

InterpreterLockWaits interpreter_lock_waits();

}  // namespace lotus
