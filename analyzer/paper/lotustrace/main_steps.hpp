// The steps of the training process, from its log.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "paper/lotustrace/batch_records.hpp"

namespace lotus::analyzer::lotustrace {

// Names a batch of a trace that is made: see events.hpp.
struct BatchName {
  std::uint64_t iterator = 0, reset = 0, batch = 0;
};

// One record of the training process's thread.
struct Step {
  enum class What : std::uint8_t {
    enter,    // __next__ and its wait begin
    arrive,   // a batch comes before its turn
    got,      // the batch that was waited for comes
    fetch,    // num_workers=0: the batch is made here
    queued,   // a batch was asked for
    leave,    // the batch is handed to training
    lone,     // a batch came before its turn, in no wait that was logged
    abandon,  // the wait has no Consumed record
  };
  What what{};
  std::int64_t at = 0;
  BatchName batch;                           // the one that it is about
  std::uint64_t expected = 0;                // arrive, got: the batch that is waited for
  bool inline_fetch = false;                 // leave, abandon: the training process itself made the batch
  std::optional<std::uint64_t> outstanding;  // arrive, got, queued: batches asked for and not received so far
  std::int64_t until = INT64_MAX;            // fetch: when the wait for it ends
};

// The batches of an epoch, in the order in which the thread dealt with them. Batches that were served from
// the cache have no wait of their own: their step takes no time. `inline_fetch`: the training process itself
// makes the batches. What cannot be, as two waits at a time, goes to `complaints` by line of `path`.
std::vector<Step> steps_of(const LoggedEpoch& epoch, BatchName name, bool inline_fetch,
                           const std::string& path, Complaints& complaints);

}  // namespace lotus::analyzer::lotustrace
