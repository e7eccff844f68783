// A Python call that is evaluated without our evaluator, with all that it calls: see evaluate_unhooked().
#pragma once

#include "python/cpython.hpp"

namespace lotus {

struct UnhookedCall {
  const UnhookedCall* self;  // its own address: whether this still is one
  py::ThreadState* state;
  const py::Frame* frame;
  py::InterpreterState* interpreter;
  // Set by a stack snapshot that met a function of which is not known that it plays no role here.
  bool met_others = false;
};

}  // namespace lotus
