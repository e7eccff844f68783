// CPython waits for its lock by a condition with a time, 5 ms at once, and from 3.9 to 3.15 for nothing else:
// its other locks are semaphores or futexes. So a call that comes from the interpreter's own code is such a
// wait. Counted are those that last the whole time, and the call after them that ends the wait: their holder
// runs Python. Who computes in C or reads gives the lock back sooner; waits for that are short, or long only
// because the holder has no core.
#include "native/interpreter_lock.hpp"

#include <atomic>
#include <cerrno>

#include "native/interposed.hpp"
#include "native/waiting.hpp"
#include "python/cpython.hpp"
#include "record/recorder.hpp"
#include "system/loaded.hpp"

namespace lotus {
namespace {

// The interpreter's code; none: nothing is counted. The start is set last.
constinit std::atomic<const void*> code_start = nullptr;
constinit std::atomic<const void*> code_end = nullptr;

constinit std::atomic<std::uint64_t> wait_count = 0;
constinit std::atomic<std::uint64_t> wait_ticks = 0;
constinit thread_local bool goes_on = false;  // this thread's last call ended without the lock

bool is_of_interpreter(const void* address) {
  const void* const start = code_start.load(std::memory_order_acquire);
  return start != nullptr && address >= start && address < code_end.load(std::memory_order_relaxed);
}

// The rule of the table. Nothing is held across the wait: a thread may be cancelled in it.
struct waits {
  template <Hooked F>
  static Word call(const Caller& from, Word condition, Word mutex, Word until) {
    const AnyFunction real = real_function(F);
    if (real == nullptr) return ENOSYS;
    if (!is_of_interpreter(from.address))
      return call_waiting(counted_pthread_cond_timedwait, from, 0,
                          [&] { return call_function(real, condition, mutex, until); });
    const std::uint64_t begin = ticks_now();
    const Word result = call_function(real, condition, mutex, until);
    const bool timed_out = static_cast<int>(result) == ETIMEDOUT;
    if (timed_out || goes_on) wait_ticks.fetch_add(ticks_now() - begin, std::memory_order_relaxed);
    if (timed_out) wait_count.fetch_add(1, std::memory_order_relaxed);
    goes_on = timed_out;
    return result;
  }
};

}  // namespace

void watch_interpreter_lock() {
  if (code_start.load(std::memory_order_relaxed) != nullptr) return;
  const Loaded interpreter = find_loaded(reinterpret_cast<const void*>(py::api.PyImport_GetModuleDict));
  code_end.store(interpreter.end, std::memory_order_relaxed);
  code_start.store(interpreter.start, std::memory_order_release);
}

InterpreterLockWaits interpreter_lock_waits() {
  return {wait_count.load(std::memory_order_relaxed), wait_ticks.load(std::memory_order_relaxed)};
}

LOTUS_INTERPOSE(LOTUS_WAIT_HOOKS)

}  // namespace lotus
