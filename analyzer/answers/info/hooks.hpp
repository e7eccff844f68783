// The native entry points that were timed, and the totals of each.
#pragma once

#include <cstdint>
#include <lotus/codec.hpp>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

class HookTotals {
 public:
  // Adds a record of kind `hook` or `native` of this process; others are ignored.
  void add(std::uint32_t process, const Record& record);

  // [{"name", "library", "calls", "total_s", "bytes"}], by name; the same hook of several processes is one
  // row. Times include nested entry points.
  nlohmann::ordered_json json(const Trace& trace) const;

 private:
  struct Total {
    std::uint64_t calls = 0, ticks = 0, bytes = 0;
  };
  using Key = std::pair<std::uint32_t, std::uint64_t>;        // process, id
  std::map<Key, std::pair<std::string, std::string>> names_;  // name, library
  std::map<Key, Total> totals_;
};

}  // namespace lotus::analyzer
