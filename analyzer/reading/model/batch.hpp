// A batch on its way from the worker to training, joined from the records of several threads.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "reading/trace/catalog.hpp"
#include "reading/trace/clock_map.hpp"

namespace lotus::analyzer {

inline constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

// Times in ticks; kUnknown where no record says it.
struct Interval {
  std::uint64_t start = kUnknown, end = kUnknown;

  bool known() const { return end != kUnknown; }
  std::uint64_t ticks() const { return end > start ? end - start : 0; }
};

struct BatchKey {
  const Process* training = nullptr;  // whose iterator it is; of an unknown one: the worker itself
  std::uint64_t iterator = 0, reset = 0, batch = 0;

  bool operator==(const BatchKey&) const = default;
  // In order of number, where the training process is the same.
  auto operator<=>(const BatchKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct BatchKeyHash {
  std::size_t operator()(const BatchKey& key) const {
    std::uint64_t hash = std::hash<const void*>()(key.training);
    for (const std::uint64_t part : {key.iterator, key.reset, key.batch})
      hash = (hash ^ part) * 0x9e3779b97f4a7c15 + (hash >> 29);
    return hash;
  }
};

enum class Fetched : std::uint8_t {
  unknown,
  made,
  failed,
  empty,      // its iterator had ended
  elsewhere,  // by another library's loader, which does not show it
};

struct Batch {
  BatchKey key;
  const Process* worker = nullptr;  // the process that fetched it
  std::uint32_t fetch_stream = 0;
  bool inline_fetch = false;  // fetched by the training process itself (num_workers=0)
  bool out_of_order = false;  // arrived before the batch that training waited for
  bool failed = false;        // consuming it raised
  bool unsized = false;       // how many samples it has is not known
  bool lingering = false;     // fetched and consumed; kept for records that come late
  Fetched fetched = Fetched::unknown;
  Interval fetch, put, serialize, send, deserialize, pin;
  Interval wait;                         // T2; out of order: start is its arrival, and it lasts kOutOfOrderNs
  std::uint64_t queued = kUnknown;       // ticks
  std::uint64_t received = kUnknown;     // by the training loop
  std::uint64_t pin_queued = kUnknown;   // handed on by the pin thread
  std::uint64_t consumed = kUnknown;     // handed to training
  std::uint64_t outstanding = kUnknown;  // tasks in the queue when it was received
  std::uint64_t bytes = kUnknown;        // serialized and moved through shared memory
  std::uint64_t samples = 0;             // 1 if it is not known how many

  bool waited() const { return out_of_order || wait.known(); }
  // Whether this counts as a batch: it was fetched (successfully or not), or training got it.
  bool real() const { return fetched == Fetched::made || fetched == Fetched::failed || consumed != kUnknown; }
};

// The wait of a batch that arrived out of order has this fixed length, as in the research system.
inline constexpr std::int64_t kOutOfOrderNs = 1000;

// How long training waited for a batch of which waited() holds.
inline std::int64_t wait_ns(const Batch& batch, const ClockMap& clock) {
  return batch.out_of_order ? kOutOfOrderNs : clock.between(batch.wait.start, batch.wait.end);
}

// The state of a stream that joins its records about batches.
struct BatchProgress {
  struct Received {
    std::uint64_t at = 0;
    std::uint64_t got = kUnknown;  // return of the `get` that delivered it
  };
  std::map<BatchKey, Received> received;  // in the open wait, not consumed so far
  std::vector<BatchKey> arriving;         // of them, those whose `get` has not returned
  Interval deserialize;                   // of the batch that is named next
  BatchKey fetched_inline;                // in the open wait; no training process: none
  std::uint64_t fetch_reset = 0;          // of the last fetch: `put` does not say it
};

}  // namespace lotus::analyzer
