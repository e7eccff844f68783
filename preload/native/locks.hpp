// Waiting for Python's locks inside of a pipeline.
#pragma once

#include "record/setting.hpp"

namespace lotus {

// Hooks the locks of `_thread` and `_multiprocessing`, as far as these modules are imported. Hold the GIL.
void hook_locks();

// While it lives, what this thread waits for is no lock that another one holds: a condition, a thread's end.
class WaitsForNoLock {
 public:
  WaitsForNoLock() : setting_(waiting, true) {}
  static bool is_so() { return waiting; }

 private:
  static constinit thread_local bool waiting;
  Setting<bool> setting_;
};

}  // namespace lotus
