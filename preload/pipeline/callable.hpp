// Callables, and the frames that a call of them runs.
#pragma once

#include "python/call.hpp"

namespace lotus {

bool is_partial(py::Object* callable);

// Whether a frame of this code with this first argument is what a call of `callable` runs.
bool runs(py::Object* callable, const Call& call, py::Object* first);

}  // namespace lotus
