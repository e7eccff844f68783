// A timeline in Perfetto's own format.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "showing/timeline/held_slices.hpp"
#include "showing/timeline/lanes.hpp"
#include "showing/timeline/perfetto_file.hpp"
#include "showing/timeline/sink.hpp"
#include "showing/timeline/torch_profile.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {

class PerfettoTimeline : public TimelineSink {
 public:
  // `start`: when the trace began, realtime ns. `lanes` and `out` outlive the timeline.
  PerfettoTimeline(std::int64_t start, const Lanes& lanes, Output& out);

  // Viewers need the slices of a thread in the order in which they begin: HeldSlices makes it of the order in
  // which spans end.
  bool draws_fetches_as_spans() const override { return true; }
  void begin_span(const DrawnThread& thread, const char* category, std::string_view name,
                  const Op* op) override;
  void rename_span(std::string_view name) override;
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
  struct Thread {
    std::uint64_t track = 0;
    HeldSlices held;
  };

  Thread& drawn(const DrawnThread& thread);
  std::uint64_t process_track(std::uint64_t pid);
  std::uint64_t outcome_track(const Lane& lane);
  Interned op_name(const Op& op);
  // The packets of a slice, into begin_ and end_.
  void write_packets(PerfettoSlice named, const Slice& slice);

  const Lanes& lanes_;
  PerfettoFile file_;
  std::vector<Thread> threads_;                       // by DrawnThread::index
  std::map<std::uint64_t, std::uint64_t> processes_;  // pid → track
  std::map<Lane, std::uint64_t> outcomes_;            // → track
  std::map<std::tuple<std::uint64_t, std::string_view, const Loader*>, std::uint64_t> counters_;
  std::vector<Interned> op_names_;  // by index
  PerfettoSlice span_;              // the current span: its name and place
  Annotations facts_;               // of the slices at work
  std::string name_, begin_, end_;  // the same
};

}  // namespace lotus::analyzer
