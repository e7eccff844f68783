// One Python frame that is about to be evaluated, as handlers see it.
#pragma once

#include <cstdint>
#include <lotus/events.hpp>

#include "python/code_info.hpp"
#include "python/cpython.hpp"
#include "python/state_lock.hpp"
#include "system/hot.hpp"

namespace lotus {

// CPython's own evaluator.
LOTUS_DIRECT extern constinit py::Evaluator evaluate_next;

// Evaluates a frame of the program's, and lets go of the state lock meanwhile.
py::Object* evaluate_unlocked(py::ThreadState* state, py::Frame* frame, int throwing);
inline py::Object* evaluate_program(py::ThreadState* state, py::Frame* frame, int throwing) {
  if (holds_state_lock()) [[unlikely]]
    return evaluate_unlocked(state, frame, throwing);
  return evaluate_next(state, frame, throwing);
}

struct Call {
  py::ThreadState* state;
  py::Frame* frame;
  int throwing;
  py::Object* code;
  CodeInfo* info;          // may be nullptr while classifying
  std::uintptr_t entry{};  // the C stack address below which the evaluation's frames lie, 0 if nobody asks

  // Evaluates the frame. nullptr: it raised, and a Python exception is pending. Locals must be read before:
  // from 3.12 the frame is gone afterwards.
  py::Object* run() const { return evaluate_program(state, frame, throwing); }
};

// The local variable at an index, out of its cell if it is in one; nullptr for index -1 or while unbound.
py::Object* local_variable(const Call& call, int index);

// Replaces a local variable that is bound, before the frame is evaluated.
void replace_local(const Call& call, int index, py::Object* value);

// The first of a tuple, as of *args. Borrowed; nullptr: there is none, or it is no tuple.
py::Object* first_of(py::Object* tuple);

// The frame's first argument (`self` of methods), by CodeInfo's `first` and `first_in_tuple`; nullptr if it
// has none.
inline py::Object* first_argument(const Call& call, int first, bool in_tuple) {
  py::Object* const value = local_variable(call, first);
  return in_tuple ? first_of(value) : value;
}
inline py::Object* first_argument(const Call& call) {
  return first_argument(call, call.info->first, call.info->first_in_tuple);
}
// The same for an argument that is in no cell.
inline py::Object* first_argument(const py::Frame* frame, int first, bool in_tuple) {
  py::Object* const value = py::local_of(frame, first);
  return in_tuple ? first_of(value) : value;
}

// The n-th local of role->locals; nullptr if absent or unbound.
inline py::Object* role_local(const Call& call, int n) { return local_variable(call, call.info->local[n]); }

// How a span ends whose frame returned `result`: StopIteration is leave_empty, other exceptions leave_error.
Kind how_left(const py::Object* result);

}  // namespace lotus
