// How a worker comes into being, until it can make batches.
#pragma once

namespace lotus {

// The process begins: it was executed, or forked.
void note_process_start();

// PyTorch is about to be imported. Where multiprocessing is starting a process (spawn, forkserver), what
// unpickling it takes is measured from here on. Needs the GIL.
void note_import_of_torch();

// The worker's loop begins.
void note_worker_loop();

// In the span of the worker's loop, once its worker_init_fn has run and its fetcher is made: records what was
// noted.
void tell_process_start();

}  // namespace lotus
