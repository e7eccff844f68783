#include <algorithm>
#include <iterator>

#include "answers/causes/rows.hpp"

namespace lotus::analyzer {
namespace {

// A setting stands before a change of the program that explains as much.
constexpr CauseRow kRows[] = {
    {Cause::suspended, "suspended", Place::ranked, judge_suspended, nullptr,
     "nothing in the program: look for what suspended it"},
    {Cause::iterators, "iterators", Place::ranked, judge_iterators, nullptr,
     "keep one iterator, and take the next batch from it"},
    {Cause::sampler, "sampler", Place::ranked, judge_sampler, "sampler",
     "draw many indices at once, before the epoch, or in the workers"},
    {Cause::dataset_in_step, "dataset_in_step", Place::ranked, judge_dataset_in_step, nullptr,
     "ask once before the loop and keep the answer"},
    {Cause::page_cache, "page_cache", Place::ranked, judge_page_cache, nullptr,
     "a long training is like the later epochs; for a quick first one, a local disk, or fewer and larger "
     "files, or read them once before"},
    {Cause::repeated, "repeated", Place::ranked, judge_repeated, nullptr,
     "open it once in each worker and keep what samples need; an index, or a format that is read in parts"},
    {Cause::startup, "startup", Place::ranked, judge_startup, "persistent",
     "make workers start quicker: less to import, less to copy to them"},
    {Cause::idle_workers, "idle_workers", Place::ranked, judge_idle_workers, nullptr,
     "as many parts of the dataset as workers, or fewer workers"},
    {Cause::threads, "threads", Place::ranked, judge_threads, nullptr,
     "one thread a worker: OMP_NUM_THREADS=1 and cv2.setNumThreads(0) before they start, "
     "torch.set_num_threads(1) in "
     "them; LOTUS_TRY=threads=1 tries it"},
    {Cause::oversubscribed, "oversubscribed", Place::ranked, judge_oversubscribed, "fewer_workers",
     "no more workers than cores"},
    {Cause::gil, "gil", Place::ranked, judge_gil, nullptr,
     "processes instead of threads: no pool of threads in the dataset, and no more workers than cores"},
    {Cause::lock, "lock", Place::ranked, judge_lock, "lock",
     "hold it shorter, or give each worker its own file, connection or copy; more workers would wait, too"},
    {Cause::gc, "gc", Place::ranked, judge_gc, nullptr,
     "gc.freeze() in worker_init_fn keeps what was there before out of all collections; no gc.collect() in "
     "the dataset"},
    {Cause::batching, "batching", Place::ranked, judge_batching, nullptr,
     "take whole batches: __getitems__, or a batch sampler as sampler and batch_size=None"},
    {Cause::transfer, "transfer", Place::ranked, judge_transfer, "transfer",
     "tensors instead of arrays or objects, fewer and smaller ones"},
    {Cause::storage, "storage", Place::ranked, judge_storage, "storage", nullptr},
    {Cause::slow_worker, "slow_worker", Place::ranked, judge_slow_worker, "slow_worker", nullptr, false},
    {Cause::op, "op", Place::ranked, judge_op, "op", "make it cheaper", true, true},
    {Cause::uneven, "uneven", Place::ranked, judge_uneven, "prefetch", "a longer queue (prefetch_factor)",
     false},
    {Cause::workers, "workers", Place::ranked, judge_workers, "workers", nullptr, false},
    {Cause::own_code, "own_code", Place::ranked, judge_own_code, "own_code", "make it cheaper"},
    {Cause::memory, "memory", Place::ranked, judge_memory, nullptr,
     "keep the dataset's index in arrays or tensors, not in lists of Python objects"},
    {Cause::crowded, "crowded", Place::ranked, judge_crowded, nullptr, "a machine with free cores", false},
    {Cause::too_little, "too_little", Place::rest, judge_too_little, nullptr, nullptr, false},
    {Cause::training, "training", Place::rest, judge_training, "train_step", nullptr, false},
    {Cause::balanced, "balanced", Place::rest, judge_balanced, nullptr, nullptr, false},
    {Cause::unknown, "unknown", Place::rest, judge_unknown, nullptr, nullptr, false},
};
static_assert(std::size(kRows) == static_cast<std::size_t>(Cause::unknown) + 1, "one row for each cause");

}  // namespace

std::span<const CauseRow> causes() { return kRows; }

const CauseRow& row_of(Cause cause) {
  return *std::find_if(std::begin(kRows), std::end(kRows),
                       [&](const CauseRow& row) { return row.cause == cause; });
}

const char* name_of(Cause cause) { return row_of(cause).name; }

}  // namespace lotus::analyzer
