#include "showing/html/op_times.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/units.hpp"

namespace lotus::analyzer {

void OpTimes::begin(const Trace& trace) {
  trace_ = &trace;
  by_index_.clear();
  process_ = nullptr;
  if (origin_ != INT64_MAX) return;
  for (const auto& [number, process] : trace.catalog.processes())
    if (process->created.ticks != 0) origin_ = std::min(origin_, trace.clock.ns(process->created.ticks));
}

OpTimes::Times& OpTimes::times_of(const Op& op) {
  if (op.index >= by_index_.size()) by_index_.resize(op.index + 1);
  Times*& slot = by_index_[op.index];
  if (slot == nullptr) slot = &times_[{op.role, op.name, op.qualified, op.file, op.line}];
  return *slot;
}

void OpTimes::widen() {
  width_ *= 2;
  for (auto& [key, times] : times_) {
    for (std::size_t i = 0; i < kBins; ++i)
      times.bins[i] = 2 * i < kBins ? times.bins[2 * i] + times.bins[2 * i + 1] : 0;
  }
}

// Times before the origin are in the first bin.
std::size_t OpTimes::bin_of(std::int64_t ns) {
  const std::int64_t after = std::max<std::int64_t>(0, ns - origin_);
  while (after / width_ >= static_cast<std::int64_t>(kBins)) widen();
  return static_cast<std::size_t>(after / width_);
}

// The own time of a call is spread evenly over the call, since its exact place is not known.
void OpTimes::spread(Times& times, std::int64_t start, std::int64_t end, double own) {
  if (origin_ == INT64_MAX) origin_ = start;
  const std::size_t last = bin_of(end);  // may widen the bins: first
  const std::size_t first = bin_of(start);
  if (first >= last) {
    times.bins[first] += own;
    return;
  }
  const double whole = static_cast<double>(end - start);
  double placed = 0;
  for (std::size_t bin = first; bin < last; ++bin) {
    const std::int64_t edge = origin_ + static_cast<std::int64_t>(bin + 1) * width_;
    const double until = own * static_cast<double>(edge - start) / whole;
    times.bins[bin] += until - placed;
    placed = until;
  }
  times.bins[last] += own - placed;
}

void OpTimes::on_span(const Span& span) {
  if (!span.is_op() || span.ended == Ended::lost) return;
  Times& times = times_of(*span.data.op);
  const auto own = static_cast<double>(trace_->clock.duration_ns(span.self_ticks()));
  spread(times, trace_->clock.ns(span.data.start), trace_->clock.ns(span.end), own);
  if (process_ != span.stream.process) {
    process_ = span.stream.process;
    lane_ = lanes_.worker(*process_);
  }
  if (lane_ >= times.by_lane.size()) times.by_lane.resize(lane_ + 1);
  Share& share = times.by_lane[lane_];
  ++share.calls;
  share.total += static_cast<double>(trace_->clock.between(span.data.start, span.end));
  share.own += own;
}

nlohmann::ordered_json OpTimes::json(const std::vector<OpFinding>& ops) const {
  nlohmann::ordered_json json = {{"bin_ms", static_cast<double>(width_) / kNsPerMs},
                                 {"origin_ns", origin_ == INT64_MAX ? 0 : origin_}};
  json["rows"] = nlohmann::ordered_json::array();
  for (const OpFinding& finding : ops) {
    const Op& op = finding.op;
    nlohmann::ordered_json row = {{"bins_ms", nlohmann::ordered_json::array()},
                                  {"lanes", nlohmann::ordered_json::array()}};
    const auto known = times_.find({op.role, op.name, op.qualified, op.file, op.line});
    if (known != times_.end()) {
      for (const double own : known->second.bins)
        row["bins_ms"].push_back(static_cast<double>(static_cast<std::int64_t>(own / 1000)) / 1000);
      for (std::size_t lane = 0; lane < known->second.by_lane.size(); ++lane) {
        const Share& share = known->second.by_lane[lane];
        if (share.calls > 0)
          row["lanes"].push_back({lane, share.calls, share.total / kNsPerMs, share.own / kNsPerMs});
      }
    }
    json["rows"].push_back(std::move(row));
  }
  return json;
}

}  // namespace lotus::analyzer
