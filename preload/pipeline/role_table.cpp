#include "pipeline/role_table.hpp"

#include "pipeline/handlers.hpp"

namespace lotus {
namespace {

// The names are the same in PyTorch 1.13 to 2.14; a row that a version lacks is never met.
constexpr Role kRoles[] = {
    // clang-format off
    // file, function, handler, locals that the handler reads, marks of copies
    {"torch/utils/data/_utils/worker.py", "_worker_loop",     worker_loop,
     {"worker_id", "num_workers", "idx"}, {"create_fetcher", "fetch", "put"}},
    {"torch/utils/data/_utils/fetch.py",  "fetch",            fetch,
     {"self", "possibly_batched_index"}, {"auto_collation", "collate_fn"}},
    {"torch/utils/data/dataloader.py",    "create_fetcher",   create_fetcher,   {}},
    {"torch/utils/data/dataloader.py",    "__init__",         loader_init,
     {"self", "loader", "dataset"}, {"batch_sampler", "persistent_workers", "worker_init_fn"}},
    {"torch/utils/data/dataloader.py",    "__init__",         loader_init,
     {"self", "loader", "dataset"}, {"_index_queues", "_worker_result_queue", "_workers"}},
    {"torch/utils/data/dataloader.py",    "_get_iterator",    get_iterator,     {},
     {"num_workers", "check_worker_number_rationality"}},
    {"torch/utils/data/dataloader.py",    "_reset",           iterator_reset,
     {"self", "first_iter", "resume_iteration_cnt"}, {"_send_idx", "_tasks_outstanding"}},
    {"torch/utils/data/dataloader.py",    "__next__",         iterator_next,    {"self"},
     {"_next_data", "_num_yielded"}},
    {"torch/utils/data/dataloader.py",    "_next_data",       next_data,        {"self"},
     {"_get_data", "_process_data", "_rcvd_idx"}},
    {"torch/utils/data/dataloader.py",    "_next_data",       next_data,        {"self"},
     {"_next_index", "_dataset_fetcher", "fetch"}},
    {"torch/utils/data/dataloader.py",    "_get_data",        get_data,         {"self"},
     {"_try_get_data"}},
    {"torch/utils/data/dataloader.py",    "_process_data",    process_data,     {"self", "data"},
     {"_try_put_index", "ExceptionWrapper"}},
    {"torch/utils/data/dataloader.py",    "_try_put_index",   try_put_index,    {"self"},
     {"_send_idx", "_tasks_outstanding"}},
    {"torch/utils/data/dataloader.py",    "_next_index",      next_index,       {"self"},
     {"_sampler_iter", "next"}},
    {"torch/utils/data/_utils/pin_memory.py", "_pin_memory_loop", pin_memory_loop, {"in_queue"}},
    {"torch/utils/data/_utils/pin_memory.py", "do_one_step",  pin_step,         {"idx", "data"}},
    {"torch/utils/data/_utils/pin_memory.py", "pin_memory",   pin_memory,       {}},
    {"torch/multiprocessing/reductions.py", "reduce_storage", reduce_storage,   {}},
    {"torch/multiprocessing/reductions.py", "rebuild_storage_fd", rebuild_storage, {"size"}},
    {"torch/multiprocessing/reductions.py", "rebuild_storage_filename", rebuild_storage, {"size"}},
    {"multiprocessing/queues.py",         "_feed",            queue_feed,       {}},
    {"multiprocessing/queues.py",         "put",              queue_put,        {"obj"}},
    {"multiprocessing/queues.py",         "get",              queue_get,        {}},
    {"multiprocessing/reduction.py",      "dump",             pickle_process,   {"file"}},
    {"multiprocessing/reduction.py",      "dumps",            pickle_dumps,     {"obj"}},
    {"multiprocessing/connection.py",     "send_bytes",       send_bytes,       {}},
    {"multiprocessing/connection.py",     "recv_bytes",       recv_bytes,       {}},
    {"concurrent/futures/thread.py",      "submit",           pool_submit,      {"self"}},
    {"concurrent/futures/thread.py",      "_worker",          pool_worker,      {"work_queue"}},
    {"concurrent/futures/thread.py",      "run",              pool_work,        {}},
    {"multiprocessing/pool.py",           "_map_async",       give_pool_tasks,  {"self"}},
    {"multiprocessing/pool.py",           "imap",             give_pool_tasks,  {"self"}},
    {"multiprocessing/pool.py",           "imap_unordered",   give_pool_tasks,  {"self"}},
    {"multiprocessing/pool.py",           "apply_async",      give_pool_tasks,  {"self"}},
    {"multiprocessing/pool.py",           "worker",           run_pool_thread,  {"inqueue"}},
    {"/threading.py",                     "run",              run_target,       {"self"}},
    {"/threading.py",                     "start",            start_thread,     {"self"}},
    {"/threading.py",                     "_bootstrap_inner", run_thread,       {"self"}},
    {"multiprocessing/process.py",        "run",              run_process,       {"self"}},
    {"multiprocessing/process.py",        "start",            start_process,    {"self"}},
    {"/threading.py",                     "wait",             waits_for_no_lock, {}},
    {"/threading.py",                     "join",             waits_for_no_lock, {}},
    {"multiprocessing/synchronize.py",    "wait",             waits_for_no_lock, {}},
    {"torch/autograd/__init__.py",        "backward",         backward_pass,    {}},
    {"torch/autograd/__init__.py",        "grad",             backward_pass,    {}},
    {"torch/optim/optimizer.py",          "wrapper",          optimizer_step,   {"args"}},
    {"torch/_dynamo/convert_frame.py",    "_compile",         compile_function, {}},
    {"torch/distributed/distributed_c10d.py", "init_process_group", init_process_group, {"rank", "world_size"}},
    // clang-format on
};

}  // namespace

std::span<const Role> role_table() { return kRoles; }

}  // namespace lotus
