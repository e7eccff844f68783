// Each operation's own time over the run and by worker. Memory is bounded: bins get wider as the run gets
// longer.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "answers/report/findings.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"
#include "showing/html/lane_table.hpp"

namespace lotus::analyzer {

class OpTimes : public Visitor {
 public:
  static constexpr std::size_t kBins = 240;

  explicit OpTimes(LaneTable& lanes) : lanes_(lanes) {}
  // Before each trace, which must live as long as this.
  void begin(const Trace& trace);

  void on_span(const Span& span) override;

  // {"bin_ms", "origin_ns", "rows": [{"bins_ms": [...], "lanes": [[lane, calls, total_ms, own_ms], …]}]}: a
  // row for each of these findings, in their order.
  nlohmann::ordered_json json(const std::vector<OpFinding>& ops) const;

 private:
  struct Share {
    std::uint64_t calls = 0;
    double total = 0, own = 0;  // ns
  };
  struct Times {
    std::array<double, kBins> bins{};  // own ns
    std::vector<Share> by_lane;        // by LaneId
  };
  using Key = std::tuple<OpRole, std::string, std::string, std::string, std::uint64_t>;

  Times& times_of(const Op& op);
  std::size_t bin_of(std::int64_t ns);
  void spread(Times& times, std::int64_t start, std::int64_t end, double own);
  void widen();

  LaneTable& lanes_;
  const Trace* trace_ = nullptr;
  std::map<Key, Times> times_;
  std::vector<Times*> by_index_;  // of the current trace
  const Process* process_ = nullptr;
  LaneId lane_ = 0;  // of process_
  std::int64_t origin_ = INT64_MAX;
  std::int64_t width_ = 1'000'000;  // ns
};

}  // namespace lotus::analyzer
