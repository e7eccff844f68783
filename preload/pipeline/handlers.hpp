// The handlers of the role table: each wraps the evaluation of one function's frame.
#pragma once

#include "python/call.hpp"

namespace lotus {

// roles_worker.cpp: making batches
py::Object* worker_loop(Call& call);
py::Object* create_fetcher(Call& call);
py::Object* fetch(Call& call);

// roles_loader.cpp: the training process's side
py::Object* loader_init(Call& call);
py::Object* pickle_process(Call& call);
py::Object* iterator_reset(Call& call);
py::Object* iterator_next(Call& call);
py::Object* next_data(Call& call);
py::Object* get_data(Call& call);
py::Object* process_data(Call& call);
py::Object* try_put_index(Call& call);
py::Object* next_index(Call& call);
py::Object* pin_memory_loop(Call& call);
py::Object* pin_step(Call& call);
py::Object* pin_memory(Call& call);

// roles_transfer.cpp: between the processes
py::Object* queue_feed(Call& call);
py::Object* queue_put(Call& call);
py::Object* queue_get(Call& call);
py::Object* pickle_dumps(Call& call);
py::Object* send_bytes(Call& call);
py::Object* recv_bytes(Call& call);
py::Object* reduce_storage(Call& call);
py::Object* rebuild_storage(Call& call);

// trial_threads.cpp: while workers are started, OpenCV's pool is stopped. A forked worker that gave it
// another number of threads would wait for those that stayed behind in its parent.
py::Object* get_iterator(Call& call);

// roles_pools.cpp: threads that do what they are given, concurrent.futures
py::Object* pool_submit(Call& call);
py::Object* pool_worker(Call& call);
py::Object* give_pool_tasks(Call& call);
py::Object* run_pool_thread(Call& call);
py::Object* pool_work(Call& call);

// … and threads and processes that run a library's function
py::Object* run_target(Call& call);
py::Object* start_process(Call& call);
py::Object* run_process(Call& call);
// A process that may work for its parent's loader has got something to do, or has done it.
void look_for_work_of_parent();
py::Object* start_thread(Call& call);
py::Object* run_thread(Call& call);

// roles_training.cpp
py::Object* optimizer_step(Call& call);
py::Object* backward_pass(Call& call);
py::Object* compile_function(Call& call);

// roles_distributed.cpp
py::Object* init_process_group(Call& call);

// roles_waiting.cpp: for something else than a lock
py::Object* waits_for_no_lock(Call& call);

// In a forked child: what the handlers of each file remember of this thread is its parent's.
void forget_worker_role();
void forget_loader_role();
void forget_transfer_role();
void forget_pools();

}  // namespace lotus
