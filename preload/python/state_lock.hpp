// What guards the state that all threads share: tables, what is known of code objects, loaders, names.
//
// Elsewhere CPython's own lock does, which is held wherever Python calls us. Free-threaded CPython runs
// threads at once; there this lock stands in for it, and what is ours is as safe as with the other one:
// - It is held where shared state may be looked at or changed, and never while the program's frames run
//   (evaluate_program()). What a plain call costs is read without it: see evaluator.cpp.
// - Who waits for it detaches from the interpreter, so that a thread which stops the world is not kept
//   waiting, nor one that holds a critical section.
// - References are given back only once it is free again: a finalizer is the program's code. So what is
//   borrowed from an object stays alive as long as the lock is held, whatever other threads do to the
//   object; see free_threading.hpp.
// - A thread that vanished with it, as daemons do while Python ends, does not keep others waiting.
#pragma once

#include "python/cpython.hpp"
#include "python/python_thread.hpp"

namespace lotus {

namespace detail {
void lock_state();
void unlock_state();
}  // namespace detail

// Holds the lock for the life of the scope, where there is one. A thread that holds it may do so again.
class StateLock {
 public:
  StateLock() {
    if (py::free_threaded) [[unlikely]]
      detail::lock_state();
  }
  ~StateLock() {
    if (py::free_threaded) [[unlikely]]
      detail::unlock_state();
  }
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;
};

// Lets go of it for the life of the scope, in a thread that holds it.
class WithoutStateLock {
 public:
  WithoutStateLock();
  ~WithoutStateLock();
  WithoutStateLock(const WithoutStateLock&) = delete;
  WithoutStateLock& operator=(const WithoutStateLock&) = delete;

 private:
  std::uint8_t held_;
};

inline bool holds_state_lock() { return python_thread.locks != 0; }

// A reference that nobody needs any more once the lock is free.
void give_back_later(py::Object* object);

// In a forked child: who held it is not there.
void forget_state_lock();

}  // namespace lotus
