// Batches on their way from a worker to the training process.
#pragma once

namespace lotus {

// The thread that serializes and sends a worker's batches has nothing to do until the next one is put. With
// the GIL held, in a worker.
bool is_feeder_idle();

}  // namespace lotus
