// A timeline in the Chrome trace event format (JSON object form).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "showing/timeline/lanes.hpp"
#include "showing/timeline/sink.hpp"
#include "showing/timeline/torch_profile.hpp"
#include "text/json_writer.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {

class ChromeTimeline : public TimelineSink {
 public:
  // `trace`: the path that the file names. `start`: when the trace began, or the profile that will be merged
  // if that was earlier; realtime ns. `lanes` and `out` outlive the timeline.
  ChromeTimeline(std::string_view trace, std::int64_t start, const Lanes& lanes, Output& out);

  bool draws_fetches_as_spans() const override { return false; }
  void begin_span(const DrawnThread& thread, const char* category, std::string_view name,
                  const Op* op) override;
  void begin_batch() override;
  void fact(std::string_view name, std::uint64_t number) override;
  void fact(std::string_view name, std::string_view text) override;
  void fact_flag(std::string_view name, bool truth) override;
  void fact_duration(std::string_view name, std::int64_t ns) override;
  void fact_batch_id(std::int64_t id) override;
  void fact_sample_index(std::int64_t index) override;
  void draw_span(const DrawnThread& thread, const Nesting& nesting, const Slice& slice) override;
  void draw_batch(const Lane& lane, std::string_view name, const Slice& slice) override;
  void count(const DrawnCounter& counter, std::int64_t ns, std::uint64_t value) override;
  void finish(const TorchProfile* profile) override;

 private:
  JsonWriter& new_event();
  void write_event();
  // `what`: process or thread; `value`: JSON.
  void metadata(const char* what, const char* fact, const Lane& lane, std::string_view value);
  void describe(const char* what, const Lanes::Name& name);
  void foreign(const TorchProfile& profile, const ProfileEvent& profiled);
  void draw(const Lane& lane, const char* category, std::string_view name, const Slice& slice);
  void flow(bool begins, std::uint64_t id, const Lane& lane, std::int64_t ns);
  JsonWriter& fact(std::string_view name);
  // µs since the start of the trace.
  void time(const char* key, std::int64_t ns);

  const Lanes& lanes_;
  Output& out_;
  std::int64_t start_;
  const char* category_ = nullptr;  // of the span at work
  std::string name_;                // the same
  bool has_facts_ = false;
  JsonWriter facts_, event_;
  const char* separator_ = "\n";
};

}  // namespace lotus::analyzer
