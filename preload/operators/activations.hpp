// The calls of Python functions that are open in the thread that trains, where control flow is recorded: each
// one with the place where it was called, so that an operator's place is that of one instruction more. Of a
// recursion, see call_chain.hpp.
#pragma once

#include <cstdint>

#include "python/recorded_calls.hpp"
#include "record/chunk.hpp"

namespace lotus {

// From now on this thread's calls are recorded, in a step: the frames that are open are told as such. With
// the GIL held, inside a Python call.
void begin_activations(const py::ThreadState* state);
// … in a region, which is called at `place`: a frame that is about to be evaluated.
RecordedCall begin_region_activation(const py::ThreadState* state, const py::Frame* frame, py::Object* code,
                                     std::uint32_t place);
void end_activations();

// The place of the innermost frame. Needs no GIL.
std::uint32_t place_in_activation(Thread& thread);

}  // namespace lotus
