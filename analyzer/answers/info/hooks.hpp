// Which native entry points were timed, and what they did in all.
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
  // A record of kind `hook` or `native` of this process; others are passed over.
  void add(std::uint32_t process, const Record& record);

  // [{"name", "library", "calls", "total_s", "bytes"}], the same hooks of several processes as one, by name.
  // Times include those of other entry points below.
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
