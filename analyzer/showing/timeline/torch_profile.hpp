// A trace of the PyTorch profiler, on the clock of a Lotus trace.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "showing/timeline/lanes.hpp"
#include "showing/timeline/torch_profile_events.hpp"

namespace lotus::analyzer {

class TorchProfile {
 public:
  // Reads the file once, for its clock, extent and names. Throws Unusable if it is no profile, or the base of
  // its times is not known: `ts` must be in µs since the epoch, or since baseTimeNanoseconds.
  explicit TorchProfile(std::string path);

  // Throws Unusable where the profile is of another run than the trace `trace`: they do not overlap in time
  // (realtime ns), or none of its processes is one of the trace's.
  void check_same_run(const std::string& trace, std::int64_t first, std::int64_t last,
                      const Lanes& lanes) const;

  // Reads the file again: each event with its start in realtime ns.
  void each(const std::function<void(const ProfileEvent&)>& show) const;

  // Realtime ns.
  std::int64_t first() const { return first_; }
  std::int64_t last() const { return last_; }
  // The profile's name for a process (tid: empty) or a thread; pid and tid as JSON. Empty: it has none.
  std::string name_of(const std::string& pid, const std::string& tid) const;
  // Of the event's thread, where it stands among those of the trace.
  std::string lane_name(const ProfileEvent& event) const;

 private:
  void scan(const ProfileEvent& event);

  std::string path_;
  std::int64_t base_ = 0;  // added to the file's times
  std::int64_t first_ = INT64_MAX, last_ = INT64_MIN;
  std::set<std::uint64_t> pids_;
  std::map<std::pair<std::string, std::string>, std::string> names_;
};

// The number that JSON is; none: it is another value.
std::optional<std::uint64_t> number_of(const std::string& json);

// The text that JSON is; another value as it stands.
std::string text_of(const std::string& json);

// The lane of a thread of the profiler in a process of the trace: beside the trace's own, because the slices
// of two tracers need not nest.
constexpr std::uint64_t profiler_tid(std::uint64_t tid) { return 20'000'000 + tid; }

}  // namespace lotus::analyzer
