// The events of a Chrome trace JSON file, one at a time: the file may be larger than memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lotus::analyzer {

struct ProfileEvent {
  struct Member {
    std::string name;
    std::string json;  // its value
  };

  std::string phase, name, category;  // text
  std::string pid, tid;               // JSON; empty: there is none
  std::optional<std::int64_t> start;  // ns, by the file's own clock
  std::optional<std::int64_t> ns;     // duration
  std::string args;                   // JSON; empty: there are none
  std::vector<Member> others;         // in the order of the file
};

struct ProfileFile {
  bool listed = false;                  // there is a list of events
  std::optional<std::int64_t> base_ns;  // baseTimeNanoseconds: the events' times are relative to it
};

// Calls `show` for each event of the file `path`, and returns the facts outside of the events. Throws
// Unusable if the file cannot be read or is not JSON.
ProfileFile read_profile_events(const std::string& path,
                                const std::function<void(const ProfileEvent&)>& show);

// Decimal µs, as JSON has them, to ns; none: that is no number, or it is absurd.
std::optional<std::int64_t> ns_of_micros(std::string_view text);

}  // namespace lotus::analyzer
