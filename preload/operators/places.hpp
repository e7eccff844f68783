// Where in the Python program this thread is: the chain of its Python frames, as one number. Each place, a
// frame's code and instruction below the place that called it, is told once.
#pragma once

#include <cstdint>

namespace lotus {

// Definition `place` of the innermost Python frame; 0: not known. Needs no GIL: the frames of a thread that
// is inside a call do not change.
std::uint32_t current_place();

}  // namespace lotus
