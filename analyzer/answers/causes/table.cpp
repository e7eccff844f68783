#include <algorithm>
#include <iterator>

#include "answers/causes/rows.hpp"

namespace lotus::analyzer {
namespace {

// A setting stands before a change of the program that explains as much.
constexpr CauseRow kRows[] = {
    {Cause::startup, "startup", Place::ranked, judge_startup, "persistent",
     "make workers start quicker: less to import, less to copy to them"},
    {Cause::storage, "storage", Place::ranked, judge_storage, "storage", nullptr},
    {Cause::slow_worker, "slow_worker", Place::ranked, judge_slow_worker, "slow_worker", nullptr},
    {Cause::op, "op", Place::ranked, judge_op, "op", "make it cheaper"},
    {Cause::uneven, "uneven", Place::ranked, judge_uneven, "prefetch", "a longer queue (prefetch_factor)"},
    {Cause::workers, "workers", Place::ranked, judge_workers, "workers", nullptr},
    {Cause::own_code, "own_code", Place::ranked, judge_own_code, "own_code", "make it cheaper"},
    {Cause::transfer, "transfer", Place::ranked, judge_transfer, "transfer", nullptr},
    {Cause::too_little, "too_little", Place::rest, judge_too_little, nullptr, nullptr},
    {Cause::training, "training", Place::rest, judge_training, "train_step", nullptr},
    {Cause::balanced, "balanced", Place::rest, judge_balanced, nullptr, nullptr},
    {Cause::unknown, "unknown", Place::rest, judge_unknown, nullptr, nullptr},
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
