#include "timeline/chrome.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

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

std::string signed_micros(std::int64_t ns) {
  const auto size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

}  // namespace

ChromeTimeline::ChromeTimeline(const Trace& trace, const Numbering& numbering, const Reading& reading,
                               bool coarse, Output& out)
    : trace_(trace),
      numbering_(numbering),
      coarse_(coarse),
      out_(out),
      base_ns_(trace.clock.ns(reading.whole.records == 0 ? trace.header.created.ticks : reading.whole.first)),
      last_ticks_(reading.whole.last) {}

std::string ChromeTimeline::micros(std::int64_t ns) const { return signed_micros(ns - base_ns_); }

void ChromeTimeline::begin() {
  out_.write(fmt::format(R"({{"displayTimeUnit":"ms","otherData":{{"tracer":"lotus","trace":{},)"
                         R"("start_realtime_ns":"{}"}},"traceEvents":[)",
                         json_string(trace_.source.path()), base_ns_));
}

void ChromeTimeline::end() {
  for (const auto& text : lanes_.metadata()) event(text);
  out_.write("\n]}\n");
}

void ChromeTimeline::event(std::string_view text) {
  out_.write(separator_);
  out_.write(text);
  separator_ = ",\n";
}

void ChromeTimeline::slice(const Slice& slice) {
  event(fmt::format(R"({{"name":{},"cat":"{}","ph":"X","pid":{},"tid":{},"ts":{},"dur":{}{}{}}})", slice.name,
                    slice.category, slice.lane.pid, slice.lane.tid, micros(slice.start),
                    signed_micros(slice.ns), slice.args.empty() ? "" : R"(,"args":)", slice.args));
}

void ChromeTimeline::flow(bool begins, std::uint64_t id, Lane lane, std::int64_t ns) {
  event(fmt::format(R"({{"name":"ac2g","cat":"ac2g","ph":"{}","id":{},"pid":{},"tid":{},"ts":{}{}}})",
                    begins ? "s" : "f", id, lane.pid, lane.tid, micros(ns), begins ? "" : R"(,"bp":"e")"));
}

std::string_view ChromeTimeline::name_of(const OpenSpan& span) {
  if (span.kind == Kind::op) {
    if (span.op->index >= op_names_.size()) op_names_.resize(span.op->index + 1);
    std::string& name = op_names_[span.op->index];
    if (name.empty()) name = json_string(span.op->name);
    return name;
  }
  if (span.kind == Kind::sample && static_cast<std::int64_t>(span.fields[0]) >= 0)
    name_ = fmt::format("\"sample {}\"", span.fields[0]);
  else
    name_ = json_string(trace_.schema.name(static_cast<Kind>(span.code)));
  return name_;
}

std::string ChromeTimeline::args_of(const Stream& stream, const OpenSpan& span, bool open) const {
  std::string args;
  if (span.kind == Kind::sample && span.has_path)
    args += fmt::format(R"(,"path":{})", json_string(stream.sample_path));
  if (span.bytes > 0) args += fmt::format(R"(,"bytes":{})", span.bytes);
  if (span.has_cpu)
    args += fmt::format(R"(,"cpu_us":{})", signed_micros(static_cast<std::int64_t>(span.cpu_ns)));
  if (open) args += R"(,"open":"had not ended at the end of the trace")";
  if (!args.empty()) args = "{" + args.substr(1) + "}";
  return args;
}

void ChromeTimeline::span_slice(const Stream& stream, const OpenSpan& span, std::uint64_t end, bool open) {
  const Lane lane = lanes_.of(stream, span.kind);
  if (coarse_) return;
  const std::string args = args_of(stream, span, open);
  const std::int64_t start = trace_.clock.ns(span.start);
  const std::int64_t ns = trace_.clock.between(span.start, end);
  slice({name_of(span), category_of(span), lane, start, ns, args});
}

void ChromeTimeline::on_span(const Span& span) {
  // Fetches that made a batch are drawn with what else is known of the batch.
  if (span.kind() == Kind::fetch && span.fetched() != Fetched::empty) return;
  span_slice(span.stream, span.data, span.end, false);
}

void ChromeTimeline::on_open_span(const Stream& stream, const OpenSpan& span, std::size_t) {
  span_slice(stream, span, last_ticks_, true);
}

void ChromeTimeline::on_point(const Stream& stream, const Record& record, std::uint64_t ticks) {
  if (record.kind == Kind::pin_queued) return;
  const std::uint64_t outstanding = record.u[record.kind == Kind::queued ? 3 : 4];
  const Loader* loader = stream.process->loader_of(record.u[0]);
  const Lane lane = lanes_.of(stream, Kind::next);
  event(fmt::format(R"({{"name":"queue depth{}","ph":"C","pid":{},"ts":{},"args":{{"batches":{}}}}})",
                    loader == nullptr ? "" : fmt::format(" (loader {})", loader->id), lane.pid,
                    micros(trace_.clock.ns(ticks)), outstanding));
}

std::string ChromeTimeline::batch_args(const Batch& batch, std::uint64_t number) const {
  const auto id = -1 - static_cast<std::int64_t>(number);
  std::string args =
      fmt::format(R"({{"External id":{},"correlation":{},"batch":{})", id, id, batch.key.batch);
  const Process& training = *batch.key.training;
  if (const Loader* loader = training.loader_of(batch.key.iterator))
    args += fmt::format(R"(,"loader":{})", loader->id);
  const auto epoch = training.epochs.find({batch.key.iterator, batch.key.reset});
  if (epoch != training.epochs.end()) args += fmt::format(R"(,"epoch":{})", epoch->second.number);
  if (batch.out_of_order) args += R"(,"out_of_order":true)";
  return args + "}";
}

void ChromeTimeline::on_batch(const Batch& batch) {
  const auto number = numbering_.of(batch.key);
  if (!number) return;
  const std::string args = batch_args(batch, *number);
  if (batch.fetch.known()) fetched(batch, *number, args);
  if (batch.waited()) waited(batch, *number, args);
  if (batch.consumed != kUnknown) consumed(batch, *number, args);
}

void ChromeTimeline::fetched(const Batch& batch, std::uint64_t number, std::string_view args) {
  const Lane lane = lanes_.of(*batch.worker, batch.fetch_stream);
  const std::int64_t start = trace_.clock.ns(batch.fetch.start);
  const std::int64_t end = trace_.clock.ns(batch.fetch.end);
  slice({fmt::format("\"SBatchPreprocessed_{}\"", number), "user_annotation", lane, start,
         std::max<std::int64_t>(0, end - start), args});
  // The arrow starts at the end of preprocessing, and must lie inside its slice to be drawn from it.
  if (batch.consumed != kUnknown) flow(true, number, lane, std::max(start, end - 1));
}

void ChromeTimeline::waited(const Batch& batch, std::uint64_t number, std::string_view args) {
  const std::int64_t ns =
      batch.out_of_order ? kOutOfOrderNs : trace_.clock.between(batch.wait.start, batch.wait.end);
  slice({fmt::format("\"SBatchWait_{}\"", number), "user_annotation", lanes_.batches_of(*batch.key.training),
         trace_.clock.ns(batch.wait.start), ns, args});
}

void ChromeTimeline::consumed(const Batch& batch, std::uint64_t number, std::string_view args) {
  constexpr std::int64_t kConsumedNs = 1000;  // the research system's literal
  const Lane lane = lanes_.batches_of(*batch.key.training);
  const std::int64_t at = trace_.clock.ns(batch.consumed);
  slice({fmt::format("\"SBatchConsumed_{}\"", number), "user_annotation", lane, at, kConsumedNs, args});
  if (batch.fetch.known()) flow(false, number, lane, at);
}

}  // namespace lotus::analyzer
