// A timeline in Perfetto's own format.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/reading.hpp"
#include "model/visitor.hpp"
#include "text/output.hpp"
#include "timeline/drawing.hpp"
#include "timeline/held_slices.hpp"
#include "timeline/lanes.hpp"
#include "timeline/perfetto_file.hpp"
#include "timeline/torch_profile.hpp"
#include "trace/trace.hpp"

namespace lotus::analyzer {

class PerfettoTimeline : public Visitor {
 public:
  // `numbering` and `lanes`: of an earlier pass over the same trace. All outlive the timeline. `start`:
  // realtime ns. `coarse`: batches only.
  PerfettoTimeline(const Trace& trace, const Numbering& numbering, Lanes& lanes, std::int64_t start,
                   bool coarse, Output& out);

  void merge(const TorchProfile& profile);  // after the trace has streamed by, if at all
  void end();

  void on_span(const Span& span) override;
  void on_point(const Stream& stream, const Record& record, std::uint64_t ticks) override;
  void on_batch(const Batch& batch) override;
  void on_open_span(const Stream& stream, const OpenSpan& span, std::size_t depth) override;

 private:
  struct Thread {
    std::uint64_t track = 0;
    HeldSlices held;
  };

  Thread& thread_of(const Stream& stream, Kind kind);
  std::uint64_t process_track(std::uint64_t pid);
  std::uint64_t outcome_track(const BatchKey& key, Outcome outcome);
  PerfettoSlice slice_of(const OpenSpan& span, Thread& thread);
  void describe(const Stream& stream, const OpenSpan& span);
  void describe(const BatchLabel& label);
  bool draw_fetch(const Span& span, PerfettoSlice& slice);
  Interned op_name(const Op& op);
  void outcome(std::uint64_t track, const std::string& name, std::int64_t start, std::int64_t ns,
               std::uint64_t arrow_to);

  const Trace& trace_;
  const Numbering& numbering_;
  Lanes& lanes_;
  bool coarse_;
  PerfettoFile file_;
  std::unordered_map<const Stream*, Thread> threads_;
  const Stream* last_stream_ = nullptr;  // chunks come in runs of one stream
  Thread* last_thread_ = nullptr;
  std::map<std::uint64_t, std::uint64_t> processes_;  // pid → track
  std::map<Lane, std::uint64_t> outcomes_;            // → track
  std::map<std::pair<std::uint64_t, const Loader*>, std::uint64_t> counters_;
  std::vector<Interned> op_names_;  // by index
  Annotations facts_;               // of the slice at work
  std::string name_, begin_, end_;  // the same
};

}  // namespace lotus::analyzer
