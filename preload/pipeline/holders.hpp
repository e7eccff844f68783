// Callables that a library was given and calls deep in its own code, found by rule: code of an installed
// package that names an attribute in which its `self` keeps a callable, self.transform(rows). Where it is not
// the package's own, what it calls of these is an operation of the program.
#pragma once

#include "pipeline/contexts.hpp"
#include "python/call.hpp"

namespace lotus {

// Whether this is a library's code that names an attribute in which `self` keeps a callable of its own, not
// of its class: what it was given to call.
bool holds_callables(Call& call, py::Object* self);

// The callable, from elsewhere than the holder's library, that it holds and this frame runs; or nullptr.
py::Object* match_held(const Holder& holder, const Call& call, py::Object* first);

}  // namespace lotus
