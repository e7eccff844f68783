// Joins the records of one batch, which come from the worker, its feeder thread, the pin thread and the
// training loop, and whose chunks arrive seconds apart. Memory is bounded: see kLinger and kMostPending.
#pragma once

#include <deque>
#include <lotus/codec.hpp>
#include <unordered_map>

#include "reading/model/batch.hpp"
#include "reading/model/span.hpp"

namespace lotus::analyzer {

class Visitor;

// Whether the training process itself, and no worker, makes the batch of a `fetch` span.
inline bool is_by_training(const OpenSpan& fetch) { return field<Kind::fetch, "iterator">(fetch) != 0; }
// The batch that a `fetch` span of the stream makes.
BatchKey key_of_fetch(const Stream& stream, const OpenSpan& fetch);

class BatchTable {
 public:
  // At most this number of fetched and consumed batches wait for records about their transfer.
  static constexpr std::size_t kLinger = 1 << 14;
  // At most this number of incomplete batches are kept; then the oldest is shown as it is.
  static constexpr std::size_t kMostPending = 1 << 17;

  explicit BatchTable(Visitor& visitor) : visitor_(visitor) {}

  void on_span(Stream& stream, const Span& span);
  void on_point(Stream& stream, const Record& record, std::uint64_t ticks);
  void on_gap(Stream& stream);
  // Shows the remaining batches.
  void finish();

 private:
  void on_fetch(Stream& stream, const Span& span);
  void on_transfer(const Stream& stream, const Span& span);
  void on_get(Stream& stream, const Span& span);
  void on_consume(Stream& stream, const Span& span);
  void on_wait(Stream& stream, const Span& span);
  void on_pin(Stream& stream, const Span& span);
  void on_received(Stream& stream, const Record& record, std::uint64_t ticks);

  Batch& row(const BatchKey& key);
  void update(Batch& batch);
  void emit(const BatchKey& key);

  Visitor& visitor_;
  std::unordered_map<BatchKey, Batch, BatchKeyHash> rows_;
  std::deque<BatchKey> lingering_;  // fetched and consumed
  std::deque<BatchKey> arrived_;    // in order of their first record; some may have left
};

}  // namespace lotus::analyzer
