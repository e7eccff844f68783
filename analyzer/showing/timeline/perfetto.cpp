#include "showing/timeline/perfetto.hpp"

#include <algorithm>

#include "showing/timeline/drawing.hpp"
#include "showing/timeline/perfetto_profile.hpp"

namespace lotus::analyzer {

PerfettoTimeline::PerfettoTimeline(std::int64_t start, const Lanes& lanes, Output& out)
    : lanes_(lanes), file_(out, start) {}

std::uint64_t PerfettoTimeline::process_track(std::uint64_t pid) {
  std::uint64_t& track = processes_[pid];
  if (track == 0) {
    const Lanes::Name name = lanes_.process(pid);
    track = file_.process(pid, name.text, name.order);
  }
  return track;
}

PerfettoTimeline::Thread& PerfettoTimeline::drawn(const DrawnThread& thread) {
  if (thread.index >= threads_.size()) threads_.resize(thread.index + 1);
  Thread& drawn = threads_[thread.index];
  if (drawn.track == 0) {
    const Lane& lane = thread.lane;
    process_track(lane.pid);
    drawn.track = file_.thread(lane.pid, lane.tid, lanes_.thread(lane).text);
  }
  return drawn;
}

std::uint64_t PerfettoTimeline::outcome_track(const Lane& lane) {
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

void PerfettoTimeline::begin_span(const DrawnThread& thread, const char* category, std::string_view name,
                                  const Op* op) {
  begin_batch();
  span_ = {};
  span_.track = drawn(thread).track;
  span_.category = file_.category(category);
  span_.name = op != nullptr ? op_name(*op) : file_.name(name);
}

void PerfettoTimeline::rename_span(std::string_view name) {
  span_.category = file_.category(kBatchCategory);
  span_.name = Interned::none;
  name_ = name;
  span_.text = name_;
}

void PerfettoTimeline::begin_batch() { facts_.bytes.clear(); }

void PerfettoTimeline::fact(std::string_view name, std::uint64_t number) {
  file_.fact(facts_, name, static_cast<std::int64_t>(number));
}
void PerfettoTimeline::fact(std::string_view name, std::string_view text) { file_.fact(facts_, name, text); }
void PerfettoTimeline::fact_flag(std::string_view name, bool truth) { file_.fact_flag(facts_, name, truth); }
void PerfettoTimeline::fact_duration(std::string_view name, std::int64_t ns) {
  file_.fact(facts_, std::string(name) + "_ns", ns);
}
void PerfettoTimeline::fact_batch_id(std::int64_t id) { file_.fact(facts_, "External id", id); }
void PerfettoTimeline::fact_sample_index(std::int64_t index) { file_.fact(facts_, "index", index); }

// Slices that never end have no end in the file: viewers draw them to the end of the trace, and say so.
void PerfettoTimeline::draw_span(const DrawnThread& thread, const Nesting& nesting, const Slice& slice) {
  HeldSlices& held = threads_[thread.index].held;  // begin_span() made it
  const auto& [depth, start, parent_start] = nesting;
  write_packets(span_, slice);
  file_.write(slice.open ? held.never_ended(depth, start, begin_)
                         : held.ended(depth, start, parent_start, begin_, end_));
}

void PerfettoTimeline::draw_batch(const Lane& lane, std::string_view name, const Slice& slice) {
  PerfettoSlice batch;
  batch.track = outcome_track(lane);
  batch.category = file_.category(kBatchCategory);
  batch.text = name;
  write_packets(batch, slice);
  file_.write(begin_);
  file_.write(end_);
}

void PerfettoTimeline::write_packets(PerfettoSlice named, const Slice& slice) {
  named.start = slice.start;
  named.arrow_from = slice.arrow_from;
  named.arrow_to = slice.arrow_to;
  named.facts = &facts_;
  begin_.clear();
  end_.clear();
  PerfettoFile::begin(begin_, named);
  if (!slice.open) PerfettoFile::end(end_, named.track, slice.start + slice.ns);
}

void PerfettoTimeline::count(const DrawnCounter& counter, std::int64_t ns, std::uint64_t value) {
  std::uint64_t& track = counters_[{counter.pid, counter.name, counter.loader}];
  if (track == 0)
    track = file_.counter(process_track(counter.pid), of_loader(counter.name, counter.loader), counter.unit);
  begin_.clear();
  PerfettoFile::count(begin_, track, ns, static_cast<std::int64_t>(value));
  file_.write(begin_);
}

void PerfettoTimeline::finish(const TorchProfile* profile) {
  for (auto& thread : threads_) file_.write(thread.held.rest());
  if (profile == nullptr) return;
  PerfettoProfile profiled(file_, *profile,
                           [this](std::uint64_t pid) { return lanes_.knows(pid) ? process_track(pid) : 0; });
  profile->each([&](const ProfileEvent& event) { profiled.draw(event); });
}

}  // namespace lotus::analyzer
