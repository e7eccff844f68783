#include "showing/timeline/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "reading/model/batches.hpp"
#include "showing/timeline/held_slices.hpp"

namespace lotus::analyzer {
namespace {

// The length of a consumption: a constant of the research system.
constexpr std::int64_t kConsumedNs = 1000;

const char* category_of(const OpenSpan& span) {
  switch (span.kind) {
    case Kind::op:
      return span.op->role == OpRole::runner ? "runner" : "op";
    case Kind::sample:
    case Kind::samples:
      return "sample";
    case Kind::put:
    case Kind::serialize:
    case Kind::send:
    case Kind::receive:
    case Kind::deserialize:
    case Kind::pin:
      return "transfer";
    default:
      return "loop";
  }
}

// Names of the slices of a batch, as in the research system.
std::string preprocessed_name(std::uint64_t number) { return fmt::format("SBatchPreprocessed_{}", number); }
std::string wait_name(std::uint64_t number) { return fmt::format("SBatchWait_{}", number); }
std::string consumed_name(std::uint64_t number) { return fmt::format("SBatchConsumed_{}", number); }

// Sign of external ids and correlations: negative, so that none equals one of the PyTorch profiler's.
std::int64_t id_of(std::uint64_t number) { return -1 - static_cast<std::int64_t>(number); }

}  // namespace

std::int64_t start_of(const Trace& trace, const Reading& reading) {
  return trace.clock.ns(reading.whole.records == 0 ? trace.header.created.ticks : reading.whole.first);
}

void Outline::on_span(const Span& span) {
  if (span.kind() != Kind::op && span.kind() != Kind::sample) lanes_.of(span.stream, span.kind());
}

void Outline::on_open_span(const Stream& stream, const OpenSpan& span, std::size_t) {
  lanes_.of(stream, span.kind);
}

Drawing::Drawing(const Trace& trace, const Numbering& numbering, Lanes& lanes, const Reading& reading,
                 bool coarse, TimelineSink& sink)
    : trace_(trace),
      numbering_(numbering),
      lanes_(lanes),
      coarse_(coarse),
      sink_(sink),
      last_ticks_(reading.whole.last) {}

const DrawnThread& Drawing::thread_of(const Stream& stream, Kind kind) {
  if (last_stream_ == &stream) return *last_thread_;
  const auto [slot, fresh] = threads_.try_emplace(&stream);
  if (fresh) slot->second = {threads_.size() - 1, lanes_.of(stream, kind)};
  last_stream_ = &stream;
  last_thread_ = &slot->second;
  return slot->second;
}

void Drawing::begin(const DrawnThread& thread, const OpenSpan& span) {
  if (span.kind == Kind::op)
    sink_.begin_span(thread, category_of(span), span.op->name, span.op);
  else
    sink_.begin_span(thread, category_of(span), trace_.schema.name(static_cast<Kind>(span.code)), nullptr);
}

void Drawing::describe(const BatchKey& key, std::uint64_t number) {
  sink_.fact_batch_id(id_of(number));
  sink_.fact("batch", key.batch);
  if (const Loader* loader = key.training->loader_of(key.iterator)) sink_.fact("loader", loader->id);
  if (const Epoch* epoch = key.training->epoch_of(key.iterator, key.reset))
    sink_.fact("epoch", epoch->number);
}

void Drawing::describe(const Stream& stream, const OpenSpan& span) {
  if (span.kind == Kind::sample) sink_.fact_sample_index(field<Kind::sample, "index">(span));
  if (span.kind == Kind::sample && span.has_path) sink_.fact("path", stream.sample_path);
  if (span.bytes > 0) sink_.fact("bytes", span.bytes);
  if (span.has_cpu) sink_.fact_duration("cpu", static_cast<std::int64_t>(span.cpu_ns));
}

// Makes the slice of a fetch that of its batch; false: the batch has no number.
bool Drawing::rename_fetch(const Span& span, Slice& slice) {
  const BatchKey key = key_of_fetch(span.stream, span.data);
  const auto number = numbering_.of(key);
  if (!number) return false;
  describe(key, *number);
  sink_.rename_span(preprocessed_name(*number));
  slice.arrow_from = arrow_of(*number);
  return true;
}

void Drawing::on_span(const Span& span) {
  const DrawnThread& thread = thread_of(span.stream, span.kind());
  // An empty one made no batch, because its iterator had ended.
  const bool of_batch = span.kind() == Kind::fetch && span.fetched() != Fetched::empty;
  if (of_batch && !sink_.draws_fetches_as_spans()) return;
  if (coarse_ && span.kind() != Kind::fetch) return;
  begin(thread, span.data);
  Slice slice;
  slice.start = trace_.clock.ns(span.data.start);
  slice.ns = trace_.clock.between(span.data.start, span.end);
  const bool renamed = of_batch && rename_fetch(span, slice);
  if (coarse_ && !renamed) return;
  describe(span.stream, span.data);
  const bool inside = !coarse_ && span.parent != nullptr;
  sink_.draw_span(thread, {span.depth, span.data.start, inside ? span.parent->start : HeldSlices::kNoParent},
                  slice);
}

void Drawing::on_open_span(const Stream& stream, const OpenSpan& span, std::size_t depth) {
  const DrawnThread& thread = thread_of(stream, span.kind);
  if (coarse_) return;
  begin(thread, span);
  describe(stream, span);
  Slice slice;
  slice.start = trace_.clock.ns(span.start);
  slice.ns = trace_.clock.between(span.start, last_ticks_);
  slice.open = true;
  sink_.draw_span(thread, {depth, span.start, HeldSlices::kNoParent}, slice);
}

void Drawing::on_point(const Stream& stream, const Record& record, std::uint64_t ticks) {
  if (record.kind != Kind::queued && record.kind != Kind::received) return draw_memory(stream, record, ticks);
  const std::uint64_t outstanding = record.kind == Kind::queued
                                        ? field<Kind::queued, "outstanding">(record)
                                        : field<Kind::received, "outstanding">(record);
  const DrawnCounter counter{
      "queue depth", "batches", lanes_.of(stream, Kind::next).pid,
      stream.process->loader_of(common_field<"iterator", Kind::queued, Kind::received>(record))};
  sink_.count(counter, trace_.clock.ns(ticks), outstanding);
}

// What PyTorch's CPU allocator has given out, in the steps whose operators are recorded.
void Drawing::draw_memory(const Stream& stream, const Record& record, std::uint64_t ticks) {
  if (coarse_) return;
  std::uint64_t& live = live_[&stream];
  const bool changes = record.kind == Kind::allocated || record.kind == Kind::released;
  if (record.kind == Kind::step)
    live = field<Kind::step, "live">(record);
  else if (record.kind == Kind::step_end)
    live = field<Kind::step_end, "live">(record);
  else if (!changes)
    return;
  if (live == kUnknown) return;
  if (record.kind == Kind::allocated) live += field<Kind::allocated, "bytes">(record);
  if (record.kind == Kind::released) live -= std::min(live, field<Kind::released, "bytes">(record));
  const DrawnCounter counter{"CPU memory of tensors", "bytes", lanes_.of(stream, Kind::next).pid, nullptr};
  sink_.count(counter, trace_.clock.ns(ticks), live);
}

void Drawing::on_batch(const Batch& batch) {
  const auto number = numbering_.of(batch.key);
  if (!number) return;
  sink_.begin_batch();
  describe(batch.key, *number);
  if (batch.out_of_order) sink_.fact_flag("out_of_order", true);
  if (batch.fetch.known() && !sink_.draws_fetches_as_spans()) draw_fetch(batch, *number);
  if (batch.waited()) draw_wait(batch, *number);
  if (batch.consumed != kUnknown) draw_consumed(batch, *number);
}

void Drawing::draw_fetch(const Batch& batch, std::uint64_t number) {
  Slice slice;
  slice.start = trace_.clock.ns(batch.fetch.start);
  slice.ns = std::max<std::int64_t>(0, trace_.clock.ns(batch.fetch.end) - slice.start);
  if (batch.consumed != kUnknown) slice.arrow_from = arrow_of(number);
  sink_.draw_batch(lanes_.of(*batch.worker, batch.fetch_stream), preprocessed_name(number), slice);
}

void Drawing::draw_wait(const Batch& batch, std::uint64_t number) {
  Slice slice;
  slice.start = trace_.clock.ns(batch.wait.start);
  slice.ns = wait_ns(batch, trace_.clock);
  sink_.draw_batch(lanes_.of(batch.key, batch.out_of_order ? Outcome::early : Outcome::waited),
                   wait_name(number), slice);
}

void Drawing::draw_consumed(const Batch& batch, std::uint64_t number) {
  Slice slice;
  slice.start = trace_.clock.ns(batch.consumed);
  slice.ns = kConsumedNs;
  if (batch.fetch.known()) slice.arrow_to = arrow_of(number);
  sink_.draw_batch(lanes_.of(batch.key, Outcome::consumed), consumed_name(number), slice);
}

}  // namespace lotus::analyzer
