// A timeline in the Chrome trace event format (JSON object form).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/reading.hpp"
#include "model/visitor.hpp"
#include "text/output.hpp"
#include "timeline/drawing.hpp"
#include "timeline/lanes.hpp"
#include "timeline/torch_profile.hpp"
#include "trace/trace.hpp"

namespace lotus::analyzer {

class ChromeTimeline : public Visitor {
 public:
  // `numbering`, `lanes` and `reading`: of an earlier pass over the same trace. All outlive the timeline.
  // `coarse`: batches only.
  ChromeTimeline(const Trace& trace, const Numbering& numbering, Lanes& lanes, const Reading& reading,
                 bool coarse, Output& out);

  void begin(const TorchProfile*
                 profile);  // before the trace streams by; the profile that will be merged, or nullptr
  void merge(const TorchProfile& profile);  // after it
  void end();

  void on_span(const Span& span) override;
  void on_point(const Stream& stream, const Record& record, std::uint64_t ticks) override;
  void on_batch(const Batch& batch) override;
  void on_open_span(const Stream& stream, const OpenSpan& span, std::size_t depth) override;

 private:
  // Strings are JSON already. Times in realtime ns.
  struct Slice {
    std::string_view name;
    const char* category;
    Lane lane;
    std::int64_t start = 0, ns = 0;
    std::string_view args;
  };

  void event(std::string_view text);
  void metadata(const char* what, const Lanes::Name& name);
  void foreign(const TorchProfile& profile, const ProfileEvent& profiled);
  void slice(const Slice& slice);
  void flow(bool begins, std::uint64_t id, Lane lane, std::int64_t ns);
  void span_slice(const Stream& stream, const OpenSpan& span, std::uint64_t end, bool open);
  void fetched(const Batch& batch, std::uint64_t number, std::string_view args);
  void waited(const Batch& batch, std::uint64_t number, std::string_view args);
  void consumed(const Batch& batch, std::uint64_t number, std::string_view args);
  std::string_view name_of(const OpenSpan& span);
  std::string args_of(const Stream& stream, const OpenSpan& span, bool open) const;
  // µs since the start of the trace, with the ns as fractions.
  std::string micros(std::int64_t ns) const;

  const Trace& trace_;
  const Numbering& numbering_;
  Lanes& lanes_;
  bool coarse_;
  Output& out_;
  std::int64_t base_ns_;
  std::uint64_t last_ticks_;
  std::vector<std::string> op_names_;  // by index
  std::string name_;
  const char* separator_ = "\n";
};

}  // namespace lotus::analyzer
