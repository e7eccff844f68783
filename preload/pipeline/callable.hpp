// Callables, and the frames that a call of them runs.
#pragma once

#include "python/call.hpp"

namespace lotus {

bool is_partial(py::Object* callable);

// What a callable of C calls in turn, as far as it tells: the function of a partial, and that in __wrapped__
// of what functools.lru_cache and NumPy's dispatcher make. Borrowed; nullptr: nothing.
py::Object* called_by(py::Object* callable);

// Notes on the code that a call of `callable` runs that something holds a callable which runs it; only such
// code is compared with what is held, see runs().
void note_called(py::Object* callable);

// Another number once a call of `callable` may run other code than before; 0: that cannot be told.
std::uint64_t call_version(py::Object* callable);

// The innermost function that a decorator's wrapper, which is this frame's function, closes over; nullptr: it
// is none. Borrowed.
py::Object* wrapped_function(const Call& call);

// Whether a frame of this code with this first argument is what a call of `callable` runs.
bool runs(py::Object* callable, const Call& call, py::Object* first);

}  // namespace lotus
