// What native entry points did, as records of the span that they did it for.
#pragma once

#include "record/chunk.hpp"

namespace lotus {

// Records the totals of the innermost span, which is about to be left, and the file that C code opened for
// it.
void write_native(Thread& thread, std::uint64_t now);

}  // namespace lotus
