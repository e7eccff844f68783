#include "python/state_lock.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "python/shared_api.hpp"
#include "record/process.hpp"
#include "system/log.hpp"

namespace lotus {
namespace {

enum : std::uint32_t { kFree, kHeld, kAwaited };
constinit std::uint32_t word = kFree;

constexpr int kSpins = 100;  // it is held for less than a microsecond, nearly always
constexpr long kPatienceNs = 100'000'000;
constexpr int kMostPatience = 100;  // ten seconds that the process ran

// References to give back. Guarded by the lock.
constexpr std::size_t kMostReferences = 4096, kAtOnce = 16;
constinit py::Object* references[kMostReferences] = {};
constinit std::size_t reference_count = 0;

bool take_free() {
  std::uint32_t expected = kFree;
  return __atomic_compare_exchange_n(&word, &expected, kHeld, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

// False: not woken in all this time.
bool sleep() {
  const timespec patience{0, kPatienceNs};
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, kAwaited, &patience, nullptr, 0);
  return result == 0 || errno != ETIMEDOUT;
}

// Where its holder is gone the lock is taken over.
void wait_for_lock() {
  const int saved = errno;
  for (int tried = 0; __atomic_exchange_n(&word, kAwaited, __ATOMIC_ACQUIRE) != kFree;) {
    void* const state = py::shared_api.PyEval_SaveThread();
    const bool woken = sleep();
    py::shared_api.PyEval_RestoreThread(state);  // while Python ends, this ends other threads
    if (woken) continue;
    if (py::shared_api.Py_IsFinalizing() != 0) break;
    if (++tried < kMostPatience) continue;
    note("a thread does not give its lock back: nothing is recorded any more");
    process.off = true;
    break;
  }
  errno = saved;
}

void take() {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (__atomic_load_n(&word, __ATOMIC_RELAXED) == kFree && take_free()) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  wait_for_lock();
}

void release() {
  if (__atomic_exchange_n(&word, kFree, __ATOMIC_RELEASE) != kAwaited) return;
  const int saved = errno;
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  errno = saved;
}

// Not inlined: its locals are not to stay on the stack while the program's frames run.
[[gnu::noinline]] void let_go() {
  for (;;) {
    py::Object* mine[kAtOnce];
    std::size_t count = 0;
    while (count < kAtOnce && reference_count > 0) mine[count++] = references[--reference_count];
    python_thread.locks = 0;
    release();
    for (std::size_t i = 0; i < count; ++i) py::shared_api.Py_DecRef(mine[i]);
    if (count < kAtOnce) return;
    take();
    python_thread.locks = 1;
  }
}

}  // namespace

void detail::lock_state() {
  if (python_thread.locks == 0) take();
  ++python_thread.locks;
}

void detail::unlock_state() {
  if (python_thread.locks > 1)
    --python_thread.locks;
  else if (python_thread.locks == 1)
    let_go();
}

WithoutStateLock::WithoutStateLock() : held_(python_thread.locks) {
  if (held_ != 0) let_go();
}

WithoutStateLock::~WithoutStateLock() {
  if (held_ == 0) return;
  take();
  python_thread.locks = held_;
}

void give_back_later(py::Object* object) {
  if (object == nullptr) return;
  if (holds_state_lock() && reference_count < kMostReferences)
    references[reference_count++] = object;
  else
    py::shared_api.Py_DecRef(object);
}

void forget_state_lock() {
  word = kFree;
  reference_count = 0;
}

}  // namespace lotus
