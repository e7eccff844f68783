#include "showing/timeline/chrome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "showing/timeline/drawing.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

// µs, with the ns as fractions.
void write_micros(JsonWriter& to, std::int64_t ns) {
  const auto size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  char text[32];
  const char* end = fmt::format_to(text, "{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
  to.json({text, end});
}

}  // namespace

ChromeTimeline::ChromeTimeline(std::string_view trace, std::int64_t start, const Lanes& lanes, Output& out)
    : lanes_(lanes), out_(out), start_(start) {
  JsonWriter& json = new_event();
  json.key("displayTimeUnit").text("ms");
  json.key("otherData").start_object();
  json.key("tracer").text("lotus");
  json.key("trace").text(trace);
  json.key("start_realtime_ns").text(std::to_string(start_));
  json.end_object();
  json.key("traceEvents").start_array();
  out_.write(json.written());  // its end is written by finish()
}

JsonWriter& ChromeTimeline::new_event() {
  event_.clear();
  event_.start_object();
  return event_;
}

void ChromeTimeline::write_event() {
  event_.end_object();
  out_.write(separator_);
  out_.write(event_.written());
  separator_ = ",\n";
}

void ChromeTimeline::time(const char* key, std::int64_t ns) { write_micros(event_.key(key), ns - start_); }

void ChromeTimeline::begin_span(const DrawnThread&, const char* category, std::string_view name, const Op*) {
  begin_batch();
  category_ = category;
  name_ = name;
}

void ChromeTimeline::begin_batch() {
  facts_.clear();
  facts_.start_object();
  has_facts_ = false;
}

JsonWriter& ChromeTimeline::fact(std::string_view name) {
  has_facts_ = true;
  return facts_.key(name);
}

void ChromeTimeline::fact(std::string_view name, std::uint64_t number) { fact(name).number(number); }
void ChromeTimeline::fact(std::string_view name, std::string_view text) { fact(name).text(text); }
void ChromeTimeline::fact_flag(std::string_view name, bool truth) { fact(name).flag(truth); }

void ChromeTimeline::fact_duration(std::string_view name, std::int64_t ns) {
  write_micros(fact(std::string(name) + "_us"), ns);
}

// Programs that read PyTorch's profiles match events by these two.
void ChromeTimeline::fact_batch_id(std::int64_t id) {
  fact("External id").number(id);
  fact("correlation").number(id);
}

// Negative: it is not known.
void ChromeTimeline::fact_sample_index(std::int64_t index) {
  if (index >= 0) fmt::format_to(std::back_inserter(name_), " {}", index);
}

void ChromeTimeline::draw_span(const DrawnThread& thread, const Nesting&, const Slice& slice) {
  if (slice.open) fact("open", "had not ended at the end of the trace");
  draw(thread.lane, category_, name_, slice);
}

void ChromeTimeline::draw_batch(const Lane& lane, std::string_view name, const Slice& slice) {
  draw(lane, kBatchCategory, name, slice);
}

void ChromeTimeline::draw(const Lane& lane, const char* category, std::string_view name, const Slice& slice) {
  JsonWriter& json = new_event();
  json.key("name").text(name);
  json.key("cat").text(category);
  json.key("ph").text("X");
  json.key("pid").number(lane.pid);
  json.key("tid").number(lane.tid);
  time("ts", slice.start);
  write_micros(json.key("dur"), slice.ns);
  if (has_facts_) {
    if (!facts_.complete()) facts_.end_object();
    json.key("args").json(facts_.written());
  }
  write_event();
  // An arrow must begin inside its slice to be drawn from it.
  if (slice.arrow_from != 0)
    flow(true, slice.arrow_from, lane, slice.start + std::max<std::int64_t>(0, slice.ns - 1));
  if (slice.arrow_to != 0) flow(false, slice.arrow_to, lane, slice.start);
}

void ChromeTimeline::flow(bool begins, std::uint64_t id, const Lane& lane, std::int64_t ns) {
  JsonWriter& json = new_event();
  json.key("name").text("ac2g");
  json.key("cat").text("ac2g");
  json.key("ph").text(begins ? "s" : "f");
  json.key("id").number(id);
  json.key("pid").number(lane.pid);
  json.key("tid").number(lane.tid);
  time("ts", ns);
  if (!begins) json.key("bp").text("e");
  write_event();
}

void ChromeTimeline::count(const DrawnCounter& counter, std::int64_t ns, std::uint64_t value) {
  JsonWriter& json = new_event();
  json.key("name").text(of_loader(counter.name, counter.loader));
  json.key("ph").text("C");
  json.key("pid").number(counter.pid);
  time("ts", ns);
  json.key("args").start_object();
  json.key(counter.unit).number(value);
  json.end_object();
  write_event();
}

void ChromeTimeline::metadata(const char* what, const char* fact, const Lane& lane, std::string_view value) {
  JsonWriter& json = new_event();
  json.key("name").text(fmt::format("{}_{}", what, fact));
  json.key("ph").text("M");
  json.key("pid").number(lane.pid);
  json.key("tid").number(lane.tid);
  json.key("args").start_object();
  json.key(fact).json(value);
  json.end_object();
  write_event();
}

void ChromeTimeline::describe(const char* what, const Lanes::Name& name) {
  metadata(what, "name", name.lane, json_string(name.text));
  metadata(what, "sort_index", name.lane, std::to_string(name.order));
}

// In processes of the trace, the profile's threads get lanes beside the trace's threads; the rest of an event
// stays unchanged.
void ChromeTimeline::foreign(const TorchProfile& profile, const ProfileEvent& profiled) {
  const auto pid = number_of(profiled.pid);
  const auto tid = number_of(profiled.tid);
  const bool ours = pid && lanes_.knows(*pid);
  if (ours && profiled.phase == "M" && profiled.name.starts_with("process_")) return;
  JsonWriter& json = new_event();
  json.key("ph").text(profiled.phase);
  json.key("name").text(profiled.name);
  if (!profiled.category.empty()) json.key("cat").text(profiled.category);
  if (!profiled.pid.empty()) json.key("pid").json(profiled.pid);
  if (!profiled.tid.empty())
    json.key("tid").json(ours && tid ? std::to_string(profiler_tid(*tid)) : profiled.tid);
  if (profiled.start) time("ts", *profiled.start);
  if (profiled.ns) write_micros(json.key("dur"), *profiled.ns);
  for (const auto& member : profiled.others) json.key(member.name).json(member.json);
  if (ours && profiled.name == "thread_name") {
    json.key("args").start_object();
    json.key("name").text(profile.lane_name(profiled));
    json.end_object();
  } else if (!profiled.args.empty()) {
    json.key("args").json(profiled.args);
  }
  write_event();
}

void ChromeTimeline::finish(const TorchProfile* profile) {
  if (profile != nullptr) profile->each([&](const ProfileEvent& event) { foreign(*profile, event); });
  for (const auto& name : lanes_.processes()) describe("process", name);
  for (const auto& name : lanes_.threads()) describe("thread", name);
  out_.write("\n]}\n");
}

}  // namespace lotus::analyzer
