// The thread of a worker that serializes and sends its batches.
#pragma once

#include <cstdint>

namespace lotus {

// Batches that were put into the worker's result queue and are not sent yet; 0: the thread has nothing to do
// until the next one is put. Guarded by the GIL.
extern std::int64_t batches_in_feeder;

}  // namespace lotus
