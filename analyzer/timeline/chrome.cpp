#include "timeline/chrome.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

std::string signed_micros(std::int64_t ns) {
  const auto size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

std::string batch_args(const BatchLabel& label, bool out_of_order) {
  std::string args =
      fmt::format(R"({{"External id":{},"correlation":{},"batch":{})", label.id(), label.id(), label.batch);
  if (label.loader) args += fmt::format(R"(,"loader":{})", *label.loader);
  if (label.epoch) args += fmt::format(R"(,"epoch":{})", *label.epoch);
  if (out_of_order) args += R"(,"out_of_order":true)";
  return args + "}";
}

std::string quoted(const std::string& name) { return '"' + name + '"'; }

}  // namespace

ChromeTimeline::ChromeTimeline(const Trace& trace, const Numbering& numbering, Lanes& lanes,
                               const Reading& reading, bool coarse, Output& out)
    : trace_(trace),
      numbering_(numbering),
      lanes_(lanes),
      coarse_(coarse),
      out_(out),
      base_ns_(trace.clock.ns(reading.whole.records == 0 ? trace.header.created.ticks : reading.whole.first)),
      last_ticks_(reading.whole.last) {}

std::string ChromeTimeline::micros(std::int64_t ns) const { return signed_micros(ns - base_ns_); }

void ChromeTimeline::begin(const TorchProfile* profile) {
  if (profile != nullptr) base_ns_ = std::min(base_ns_, profile->first());
  out_.write(fmt::format(R"({{"displayTimeUnit":"ms","otherData":{{"tracer":"lotus","trace":{},)"
                         R"("start_realtime_ns":"{}"}},"traceEvents":[)",
                         json_string(trace_.source.path()), base_ns_));
}

void ChromeTimeline::end() {
  for (const auto& name : lanes_.processes()) metadata("process", name);
  for (const auto& name : lanes_.threads()) metadata("thread", name);
  out_.write("\n]}\n");
}

void ChromeTimeline::metadata(const char* what, const Lanes::Name& name) {
  event(fmt::format(R"({{"name":"{}_name","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})", what,
                    name.lane.pid, name.lane.tid, json_string(name.text)));
  event(fmt::format(R"({{"name":"{}_sort_index","ph":"M","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
                    what, name.lane.pid, name.lane.tid, name.order));
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
  if (span.kind == Kind::sample && field<Kind::sample, "index">(span) >= 0)
    name_ = fmt::format("\"sample {}\"", field<Kind::sample, "index">(span));
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
  if (record.kind != Kind::queued && record.kind != Kind::received) return;
  const std::uint64_t outstanding = record.kind == Kind::queued
                                        ? field<Kind::queued, "outstanding">(record)
                                        : field<Kind::received, "outstanding">(record);
  const Loader* loader =
      stream.process->loader_of(common_field<"iterator", Kind::queued, Kind::received>(record));
  const Lane lane = lanes_.of(stream, Kind::next);
  event(fmt::format(R"({{"name":"{}","ph":"C","pid":{},"ts":{},"args":{{"batches":{}}}}})",
                    of_loader("queue depth", loader), lane.pid, micros(trace_.clock.ns(ticks)), outstanding));
}

void ChromeTimeline::on_batch(const Batch& batch) {
  const auto label = label_of(batch.key, numbering_);
  if (!label) return;
  const std::string args = batch_args(*label, batch.out_of_order);
  if (batch.fetch.known()) fetched(batch, label->number, args);
  if (batch.waited()) waited(batch, label->number, args);
  if (batch.consumed != kUnknown) consumed(batch, label->number, args);
}

void ChromeTimeline::fetched(const Batch& batch, std::uint64_t number, std::string_view args) {
  const Lane lane = lanes_.of(*batch.worker, batch.fetch_stream);
  const std::int64_t start = trace_.clock.ns(batch.fetch.start);
  const std::int64_t end = trace_.clock.ns(batch.fetch.end);
  slice({quoted(preprocessed_name(number)), kBatchCategory, lane, start,
         std::max<std::int64_t>(0, end - start), args});
  // The arrow starts at the end of preprocessing, and must lie inside its slice to be drawn from it.
  if (batch.consumed != kUnknown) flow(true, arrow_of(number), lane, std::max(start, end - 1));
}

void ChromeTimeline::waited(const Batch& batch, std::uint64_t number, std::string_view args) {
  const Lane lane = lanes_.of(batch.key, batch.out_of_order ? Outcome::early : Outcome::waited);
  slice({quoted(wait_name(number)), kBatchCategory, lane, trace_.clock.ns(batch.wait.start),
         wait_ns(batch, trace_.clock), args});
}

void ChromeTimeline::consumed(const Batch& batch, std::uint64_t number, std::string_view args) {
  const Lane lane = lanes_.of(batch.key, Outcome::consumed);
  const std::int64_t at = trace_.clock.ns(batch.consumed);
  slice({quoted(consumed_name(number)), kBatchCategory, lane, at, kConsumedNs, args});
  if (batch.fetch.known()) flow(false, arrow_of(number), lane, at);
}

void ChromeTimeline::merge(const TorchProfile& profile) {
  profile.each([&](const ProfileEvent& profiled) { foreign(profile, profiled); });
}

// Processes and threads that both know get lanes beside ours; all else of the event stays as it is.
void ChromeTimeline::foreign(const TorchProfile& profile, const ProfileEvent& profiled) {
  const auto pid = number_of(profiled.pid);
  const auto tid = number_of(profiled.tid);
  const bool ours = pid && lanes_.knows(*pid);
  if (ours && profiled.phase == "M" && profiled.name.starts_with("process_")) return;
  std::string text =
      fmt::format(R"({{"ph":{},"name":{})", json_string(profiled.phase), json_string(profiled.name));
  if (!profiled.category.empty()) text += R"(,"cat":)" + json_string(profiled.category);
  if (!profiled.pid.empty()) text += R"(,"pid":)" + profiled.pid;
  if (!profiled.tid.empty())
    text += R"(,"tid":)" + (ours && tid ? std::to_string(profiler_tid(*tid)) : profiled.tid);
  if (profiled.start) text += R"(,"ts":)" + micros(*profiled.start);
  if (profiled.ns) text += R"(,"dur":)" + signed_micros(*profiled.ns);
  for (const auto& member : profiled.others) text += "," + json_string(member.name) + ":" + member.json;
  if (ours && profiled.name == "thread_name")
    text += fmt::format(R"(,"args":{{"name":{}}})", json_string(profile.lane_name(profiled)));
  else if (!profiled.args.empty())
    text += R"(,"args":)" + profiled.args;
  event(text + "}");
}

}  // namespace lotus::analyzer
