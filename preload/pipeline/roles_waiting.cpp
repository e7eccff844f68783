// Conditions and ends of threads are waited for by locks that nobody competes for.
#include "native/locks.hpp"
#include "pipeline/handlers.hpp"
#include "pipeline/parts.hpp"
#include "python/frame_handlers.hpp"
#include "python/python_thread.hpp"

namespace lotus {

py::Object* waits_for_no_lock(Call& call) {
  const WaitsForNoLock waits;
  note_wait_for_thread();
  // It may be an operation all the same.
  return python_thread.context != nullptr ? in_pipeline(call) : call.run();
}

}  // namespace lotus
