#include "reading/model/batches.hpp"

#include <algorithm>

#include "reading/model/visitor.hpp"

namespace lotus::analyzer {
namespace {

Interval interval(const Span& span) { return {span.data.start, span.end}; }

// The key of a batch that a record or a span of kind K names.
template <Kind K, class Source>
BatchKey own_key(const Stream& stream, const Source& source) {
  return {stream.process, field<K, "iterator">(source), field<K, "reset">(source), field<K, "batch">(source)};
}

// The key of a batch that a worker process names without its iterator.
BatchKey worker_key(const Stream& stream, std::uint64_t reset, std::uint64_t batch) {
  const auto& of = stream.process->worker_of;
  if (!of) return {stream.process, 0, reset, batch};
  return {of->training, of->iterator, reset, batch};
}

const OpenSpan* enclosing_wait(const Stream& stream) {
  const auto hit = std::find_if(stream.stack.rbegin(), stream.stack.rend(),
                                [](const OpenSpan& span) { return span.kind == Kind::wait; });
  return hit == stream.stack.rend() ? nullptr : &*hit;
}

bool settled(const Batch& batch) {
  if (batch.fetched == Fetched::empty) return batch.received != kUnknown || batch.inline_fetch;
  return batch.fetched != Fetched::unknown && (batch.consumed != kUnknown || batch.failed);
}

bool complete(const Batch& batch) {
  if (batch.fetched == Fetched::empty || batch.fetched == Fetched::elsewhere || batch.inline_fetch)
    return true;
  const Loader* loader = batch.key.training->loader_of(batch.key.iterator);
  const bool pinned = loader == nullptr || !loader->pin_memory || batch.pin_queued != kUnknown;
  return batch.put.known() && batch.serialize.known() && batch.send.known() && batch.deserialize.known() &&
         batch.queued != kUnknown && batch.received != kUnknown && pinned;
}

}  // namespace

BatchKey key_of_fetch(const Stream& stream, const OpenSpan& fetch) {
  if (is_by_training(fetch)) return own_key<Kind::fetch>(stream, fetch);
  return worker_key(stream, field<Kind::fetch, "reset">(fetch), field<Kind::fetch, "batch">(fetch));
}

void BatchTable::on_span(Stream& stream, const Span& span) {
  switch (span.kind()) {
    case Kind::fetch:
      return on_fetch(stream, span);
    case Kind::put:
    case Kind::serialize:
    case Kind::send:
      return on_transfer(stream, span);
    case Kind::deserialize:
      if (span.ended == Ended::returned) stream.batches.deserialize = interval(span);
      return;
    case Kind::get:
      return on_get(stream, span);
    case Kind::consume:
      return on_consume(stream, span);
    case Kind::wait:
      return on_wait(stream, span);
    case Kind::pin:
      return on_pin(stream, span);
    default:
      return;
  }
}

void BatchTable::on_fetch(Stream& stream, const Span& span) {
  const bool by_training = is_by_training(span.data);
  const BatchKey key = key_of_fetch(stream, span.data);
  stream.batches.fetch_reset = field<Kind::fetch, "reset">(span.data);
  Batch& batch = row(key);
  batch.fetch = interval(span);
  batch.fetched = span.fetched();
  batch.samples = span.data.samples;
  batch.unsized = span.data.unsized;
  batch.worker = stream.process;
  batch.fetch_stream = stream.number;
  batch.inline_fetch = by_training;
  if (by_training) stream.batches.fetched_inline = key;
  update(batch);
}

void BatchTable::on_transfer(const Stream& stream, const Span& span) {
  const std::uint64_t number = common_field<"batch", Kind::put, Kind::serialize, Kind::send>(span.data);
  std::uint64_t reset = stream.batches.fetch_reset;
  const auto& of = stream.process->worker_of;
  // The feeder thread does not fetch, so its epoch is derived from the time.
  if (span.kind() != Kind::put) reset = of ? of->training->reset_at(of->iterator, span.data.start) : 0;
  Batch& batch = row(worker_key(stream, reset, number));
  if (span.kind() == Kind::put) batch.put = interval(span);
  if (span.kind() == Kind::send) batch.send = interval(span);
  if (span.kind() == Kind::serialize) {
    batch.serialize = interval(span);
    batch.bytes = span.data.bytes;
  }
  update(batch);
}

void BatchTable::on_get(Stream& stream, const Span& span) {
  BatchProgress& progress = stream.batches;
  for (const BatchKey& key : progress.arriving)
    if (const auto hit = progress.received.find(key); hit != progress.received.end())
      hit->second.got = span.end;
  progress.arriving.clear();
}

void BatchTable::on_consume(Stream& stream, const Span& span) {
  const BatchKey key = own_key<Kind::consume>(stream, span.data);
  Batch& batch = row(key);
  auto& received = stream.batches.received;
  const auto hit = received.find(key);
  const OpenSpan* wait = enclosing_wait(stream);
  if (hit != received.end()) {
    if (wait != nullptr && hit->second.got != kUnknown) batch.wait = {wait->start, hit->second.got};
    received.erase(hit);
  }
  if (span.ended == Ended::returned)
    batch.consumed = span.end;
  else
    batch.failed = true;
  const Loader* const loader = stream.process->loader_of(key.iterator);
  if (loader != nullptr && loader->is_other() && batch.fetched == Fetched::unknown) {
    const bool sized = span.data.whole_batch != kUnknown && span.data.whole_batch != 0;
    batch.fetched = Fetched::elsewhere;
    batch.samples = sized ? span.data.whole_batch : 1;
    batch.unsized = !sized;
  }
  update(batch);
}

// Batches received in this wait but not consumed at its end came out of order.
void BatchTable::on_wait(Stream& stream, const Span& span) {
  for (const auto& [key, received] : stream.batches.received) {
    Batch& batch = row(key);
    batch.out_of_order = true;
    batch.wait = {received.at, received.at};
    update(batch);
  }
  stream.batches.received.clear();
  stream.batches.arriving.clear();
  const BatchKey fetched = stream.batches.fetched_inline;
  stream.batches.fetched_inline = {};
  if (fetched.training == nullptr) return;
  const auto found = rows_.find(fetched);
  if (found == rows_.end()) return;
  Batch& batch = found->second;
  if (batch.fetched != Fetched::empty) batch.wait = interval(span);
  if (span.ended == Ended::returned)
    batch.consumed = span.end;
  else
    batch.failed = true;
  update(batch);
}

void BatchTable::on_pin(Stream& stream, const Span& span) {
  Batch& batch = row(own_key<Kind::pin>(stream, span.data));
  batch.pin = interval(span);
  if (stream.batches.deserialize.known()) batch.deserialize = stream.batches.deserialize;
  stream.batches.deserialize = {};
  update(batch);
}

void BatchTable::on_point(Stream& stream, const Record& record, std::uint64_t ticks) {
  if (record.kind == Kind::received) return on_received(stream, record, ticks);
  if (record.kind != Kind::queued && record.kind != Kind::pin_queued) return;
  const bool queued = record.kind == Kind::queued;
  Batch& batch =
      row(queued ? own_key<Kind::queued>(stream, record) : own_key<Kind::pin_queued>(stream, record));
  (queued ? batch.queued : batch.pin_queued) = ticks;
  update(batch);
}

void BatchTable::on_received(Stream& stream, const Record& record, std::uint64_t ticks) {
  Batch& batch = row(own_key<Kind::received>(stream, record));
  batch.received = ticks;
  batch.outstanding = field<Kind::received, "outstanding">(record);
  if (stream.batches.deserialize.known()) batch.deserialize = stream.batches.deserialize;
  stream.batches.deserialize = {};
  // Outside of a wait, a received batch is a leftover that a new epoch discards.
  if (enclosing_wait(stream) != nullptr) {
    stream.batches.received[batch.key] = {ticks, kUnknown};
    stream.batches.arriving.push_back(batch.key);
  }
  update(batch);
}

void BatchTable::on_gap(Stream& stream) {
  const std::uint64_t reset = stream.batches.fetch_reset;
  stream.batches = {};
  stream.batches.fetch_reset = reset;
}

Batch& BatchTable::row(const BatchKey& key) {
  if (const auto known = rows_.find(key); known != rows_.end()) return known->second;
  // Done before adding the new row: the oldest entry may belong to an earlier row of the same key that has
  // left.
  while (arrived_.size() >= kMostPending || (!arrived_.empty() && !rows_.contains(arrived_.front()))) {
    const BatchKey oldest = arrived_.front();
    arrived_.pop_front();
    emit(oldest);
  }
  arrived_.push_back(key);
  Batch& row = rows_[key];
  row.key = key;
  return row;
}

void BatchTable::update(Batch& batch) {
  if (!settled(batch)) return;
  const BatchKey key = batch.key;
  if (complete(batch)) return emit(key);
  if (!batch.lingering) lingering_.push_back(key);
  batch.lingering = true;
  while (lingering_.size() > kLinger) {
    const BatchKey oldest = lingering_.front();
    lingering_.pop_front();
    emit(oldest);
  }
}

void BatchTable::emit(const BatchKey& key) {
  const auto found = rows_.find(key);
  if (found == rows_.end()) return;
  if (found->second.real()) visitor_.on_batch(found->second);
  rows_.erase(found);
}

void BatchTable::finish() {
  while (!arrived_.empty()) {
    emit(arrived_.front());
    arrived_.pop_front();
  }
  lingering_.clear();
}

}  // namespace lotus::analyzer
