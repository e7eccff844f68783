// Callables without a Python frame (builtins, C methods, partials of these) among a runner's callables.
#pragma once

#include "python/cpython.hpp"

namespace lotus {

// Makes sure that calls of the container's native callables by a runner are seen. Callables that cannot be
// hooked are left alone; their time then belongs to the runner.
void hook_native_callables(py::Object* items);

}  // namespace lotus
