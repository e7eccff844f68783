// How the rows of the table of causes judge a run. What each asks for is said at its definition.
#pragma once

#include "answers/causes/case.hpp"
#include "answers/causes/cause.hpp"

namespace lotus::analyzer {

// rows_loader.cpp: the loader and its workers.
Judgement judge_startup(const Case& c);
Judgement judge_slow_worker(const Case& c);
Judgement judge_uneven(const Case& c);
Judgement judge_workers(const Case& c);
Judgement judge_transfer(const Case& c);

Judgement judge_idle_workers(const Case& c);
Judgement judge_iterators(const Case& c);
Judgement judge_sampler(const Case& c);
Judgement judge_dataset_in_step(const Case& c);

// rows_machine.cpp: cores, threads, and the times in which nothing ran.
Judgement judge_threads(const Case& c);
Judgement judge_oversubscribed(const Case& c);
Judgement judge_gil(const Case& c);
Judgement judge_lock(const Case& c);
Judgement judge_gc(const Case& c);
Judgement judge_memory(const Case& c);
Judgement judge_crowded(const Case& c);
Judgement judge_suspended(const Case& c);

// rows_making.cpp: the making of batches.
Judgement judge_page_cache(const Case& c);
Judgement judge_storage(const Case& c);
Judgement judge_op(const Case& c);
Judgement judge_own_code(const Case& c);

// `; they wait in Labels.wait (waiting for a lock: sem_wait)`: where fetches wait longest, if that is a fifth
// of their time or more; else empty.
std::string where_fetches_wait(const Findings& findings);
Judgement judge_batching(const Case& c);
Judgement judge_repeated(const Case& c);

// rows_rest.cpp: judged where no other cause holds.
Judgement judge_too_little(const Case& c);
Judgement judge_training(const Case& c);
Judgement judge_balanced(const Case& c);
Judgement judge_unknown(const Case& c);

// "it is not this": no evidence for it.
inline Judgement ruled_out(std::string why) { return {.words = std::move(why)}; }

}  // namespace lotus::analyzer
