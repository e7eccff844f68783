#include "timeline/perfetto.hpp"

#include "model/batches.hpp"
#include "timeline/perfetto_profile.hpp"

namespace lotus::analyzer {

PerfettoTimeline::PerfettoTimeline(const Trace& trace, const Numbering& numbering, Lanes& lanes,
                                   std::int64_t start, bool coarse, Output& out)
    : trace_(trace), numbering_(numbering), lanes_(lanes), coarse_(coarse), file_(out, start) {}

std::uint64_t PerfettoTimeline::process_track(std::uint64_t pid) {
  std::uint64_t& track = processes_[pid];
  if (track == 0) {
    const Lanes::Name name = lanes_.process(pid);
    track = file_.process(pid, name.text, name.order);
  }
  return track;
}

PerfettoTimeline::Thread& PerfettoTimeline::thread_of(const Stream& stream, Kind kind) {
  if (last_stream_ == &stream) return *last_thread_;
  const auto [slot, fresh] = threads_.try_emplace(&stream);
  if (fresh) {
    const Lane lane = lanes_.of(stream, kind);
    process_track(lane.pid);
    slot->second.track = file_.thread(lane.pid, lane.tid, lanes_.thread(lane).text);
  }
  last_stream_ = &stream;
  last_thread_ = &slot->second;
  return slot->second;
}

std::uint64_t PerfettoTimeline::outcome_track(const BatchKey& key, Outcome outcome) {
  const Lane lane = lanes_.of(key, outcome);
  std::uint64_t& track = outcomes_[lane];
  if (track == 0) {
    const Lanes::Name name = lanes_.thread(lane);
    track = file_.track(process_track(lane.pid), name.text, name.order);
  }
  return track;
}

Interned PerfettoTimeline::op_name(const Op& op) {
  if (op.index >= op_names_.size()) op_names_.resize(op.index + 1);
  Interned& name = op_names_[op.index];
  if (name == Interned::none) name = file_.name(op.name);
  return name;
}

void PerfettoTimeline::describe(const Stream& stream, const OpenSpan& span) {
  if (span.kind == Kind::sample) file_.fact(facts_, "index", field<Kind::sample, "index">(span));
  if (span.kind == Kind::sample && span.has_path) file_.fact(facts_, "path", stream.sample_path);
  if (span.bytes > 0) file_.fact(facts_, "bytes", static_cast<std::int64_t>(span.bytes));
  if (span.has_cpu) file_.fact(facts_, "cpu_ns", static_cast<std::int64_t>(span.cpu_ns));
}

void PerfettoTimeline::describe(const BatchLabel& label) {
  file_.fact(facts_, "External id", label.id());
  file_.fact(facts_, "batch", static_cast<std::int64_t>(label.batch));
  if (label.loader) file_.fact(facts_, "loader", static_cast<std::int64_t>(*label.loader));
  if (label.epoch) file_.fact(facts_, "epoch", static_cast<std::int64_t>(*label.epoch));
}

PerfettoSlice PerfettoTimeline::slice_of(const OpenSpan& span, Thread& thread) {
  PerfettoSlice slice;
  slice.track = thread.track;
  slice.start = trace_.clock.ns(span.start);
  slice.category = file_.category(category_of(span));
  slice.name = span.kind == Kind::op ? op_name(*span.op)
                                     : file_.name(trace_.schema.name(static_cast<Kind>(span.code)));
  slice.facts = &facts_;
  return slice;
}

// Makes it the slice of its batch; false: it made none, because its iterator had ended.
bool PerfettoTimeline::draw_fetch(const Span& span, PerfettoSlice& slice) {
  if (span.kind() != Kind::fetch || span.fetched() == Fetched::empty) return false;
  const auto label = label_of(key_of_fetch(span.stream, span.data), numbering_);
  if (!label) return false;
  describe(*label);
  slice.category = file_.category(kBatchCategory);
  slice.name = Interned::none;
  slice.text = name_ = preprocessed_name(label->number);
  slice.arrow_from = arrow_of(label->number);
  return true;
}

void PerfettoTimeline::on_span(const Span& span) {
  if (coarse_ && span.kind() != Kind::fetch) return;
  Thread& thread = thread_of(span.stream, span.kind());
  facts_.bytes.clear();
  begin_.clear();
  end_.clear();
  PerfettoSlice slice = slice_of(span.data, thread);
  if (!draw_fetch(span, slice) && coarse_) return;
  describe(span.stream, span.data);
  PerfettoFile::begin(begin_, slice);
  PerfettoFile::end(end_, slice.track, slice.start + trace_.clock.between(span.data.start, span.end));
  const std::uint64_t parent = coarse_ || span.parent == nullptr ? HeldSlices::kNoParent : span.parent->start;
  file_.write(thread.held.ended(span.depth, span.data.start, parent, begin_, end_));
}

// Without an end: viewers draw it to the end of the trace, and say so.
void PerfettoTimeline::on_open_span(const Stream& stream, const OpenSpan& span, std::size_t depth) {
  if (coarse_) return;
  Thread& thread = thread_of(stream, span.kind);
  facts_.bytes.clear();
  begin_.clear();
  const PerfettoSlice slice = slice_of(span, thread);
  describe(stream, span);
  PerfettoFile::begin(begin_, slice);
  file_.write(thread.held.never_ended(depth, span.start, begin_));
}

void PerfettoTimeline::on_point(const Stream& stream, const Record& record, std::uint64_t ticks) {
  if (record.kind != Kind::queued && record.kind != Kind::received) return;
  const std::uint64_t outstanding = record.kind == Kind::queued
                                        ? field<Kind::queued, "outstanding">(record)
                                        : field<Kind::received, "outstanding">(record);
  const Loader* loader =
      stream.process->loader_of(common_field<"iterator", Kind::queued, Kind::received>(record));
  const std::uint64_t pid = lanes_.pid_of(*stream.process);
  std::uint64_t& track = counters_[{pid, loader}];
  if (track == 0) track = file_.counter(process_track(pid), of_loader("queue depth", loader), "batches");
  begin_.clear();
  PerfettoFile::count(begin_, track, trace_.clock.ns(ticks), static_cast<std::int64_t>(outstanding));
  file_.write(begin_);
}

void PerfettoTimeline::on_batch(const Batch& batch) {
  const auto label = label_of(batch.key, numbering_);
  if (!label) return;
  facts_.bytes.clear();
  describe(*label);
  if (batch.out_of_order) file_.fact_flag(facts_, "out_of_order", true);
  if (batch.waited())
    outcome(outcome_track(batch.key, batch.out_of_order ? Outcome::early : Outcome::waited),
            wait_name(label->number), trace_.clock.ns(batch.wait.start), wait_ns(batch, trace_.clock), 0);
  if (batch.consumed == kUnknown) return;
  outcome(outcome_track(batch.key, Outcome::consumed), consumed_name(label->number),
          trace_.clock.ns(batch.consumed), kConsumedNs,
          batch.fetched == Fetched::made ? arrow_of(label->number) : 0);
}

void PerfettoTimeline::outcome(std::uint64_t track, const std::string& name, std::int64_t start,
                               std::int64_t ns, std::uint64_t arrow_to) {
  PerfettoSlice slice;
  slice.track = track;
  slice.start = start;
  slice.category = file_.category(kBatchCategory);
  slice.text = name;
  slice.arrow_to = arrow_to;
  slice.facts = &facts_;
  begin_.clear();
  PerfettoFile::begin(begin_, slice);
  PerfettoFile::end(begin_, track, start + ns);
  file_.write(begin_);
}

void PerfettoTimeline::merge(const TorchProfile& profile) {
  PerfettoProfile profiled(file_, profile,
                           [this](std::uint64_t pid) { return lanes_.knows(pid) ? process_track(pid) : 0; });
  profile.each([&](const ProfileEvent& event) { profiled.draw(event); });
}

void PerfettoTimeline::end() {
  for (auto& [stream, thread] : threads_) file_.write(thread.held.rest());
}

}  // namespace lotus::analyzer
