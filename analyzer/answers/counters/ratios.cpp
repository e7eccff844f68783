#include "answers/counters/ratios.hpp"

#include <algorithm>
#include <cmath>

namespace lotus::analyzer {
namespace {

struct CommonRow {
  const char* key;
  const char* title;
  double scale;
  const char* formula;
};

// As `perf stat` has them (tools/perf/util/stat-shadow.c in Linux): "insn per cycle", "of all cache refs",
// "of all branches"; misses per thousand instructions as in Hennessy and Patterson, Computer Architecture,
// appendix B.2.
constexpr CommonRow kCommonRows[] = {
    {"ipc", "instructions per cycle", 1, "instructions / cycles"},
    {"cache_mpki", "cache misses per 1000 instructions", 1000, "cache-misses / instructions"},
    {"cache_miss_percent", "% of cache references missed", 100, "cache-misses / cache-references"},
    {"branch_mpki", "branch misses per 1000 instructions", 1000, "branch-misses / instructions"},
    {"branch_miss_percent", "% of branches missed", 100, "branch-misses / branches"},
    {"l1d_mpki", "L1 data load misses per 1000 instructions", 1000, "L1-dcache-load-misses / instructions"},
    {"llc_mpki", "LLC load misses per 1000 instructions", 1000, "LLC-load-misses / instructions"},
    {"dtlb_mpki", "dTLB load misses per 1000 instructions", 1000, "dTLB-load-misses / instructions"},
    {"itlb_mpki", "iTLB load misses per 1000 instructions", 1000, "iTLB-load-misses / instructions"},
};

struct PartRow {
  TopdownPart part;
  const char* key;
  const char* became;  // of slots
};

constexpr PartRow kPartRows[] = {
    {TopdownPart::retiring, "retiring_percent", "used"},
    {TopdownPart::bad_speculation, "bad_speculation_percent", "lost to wrong speculation"},
    {TopdownPart::frontend, "frontend_bound_percent", "lost to the front end"},
    {TopdownPart::backend, "backend_bound_percent", "lost to the back end"},
    {TopdownPart::other_thread, "other_thread_percent", "lost to the core's other thread"},
    {TopdownPart::heavy_operations, "heavy_operations_percent", "used by microcode and long instructions"},
    {TopdownPart::light_operations, "light_operations_percent", "used by other instructions"},
    {TopdownPart::mispredicts, "mispredicts_percent", "lost to mispredicted branches"},
    {TopdownPart::restarts, "restarts_percent", "lost to other restarts of the pipeline"},
    {TopdownPart::fetch_latency, "fetch_latency_percent", "lost to waiting for instructions"},
    {TopdownPart::fetch_bandwidth, "fetch_bandwidth_percent", "lost to decoding instructions"},
    {TopdownPart::memory, "memory_bound_percent", "lost to waiting for memory"},
    {TopdownPart::core, "core_bound_percent", "lost to waiting for execution units"},
};

const PartRow& row_of(TopdownPart part) {
  return *std::find_if(std::begin(kPartRows), std::end(kPartRows),
                       [&](const PartRow& row) { return row.part == part; });
}

double percent(double value) { return std::clamp(value, 0.0, 100.0); }

}  // namespace

std::vector<RatioRow> ratio_rows(const TopdownModel* topdown) {
  std::vector<RatioRow> rows;
  for (const CommonRow& row : kCommonRows)
    rows.push_back({row.key, row.title, row.scale, Formula(row.formula), std::nullopt});
  if (topdown == nullptr) return rows;
  for (const TopdownShare& share : topdown->shares) {
    const PartRow& row = row_of(share.part);
    rows.push_back({row.key, "% of " + std::string(topdown->unit) + " " + row.became, 100,
                    Formula(share.formula), share.part});
  }
  return rows;
}

std::optional<Ratio> ratio_of(const RatioRow& row, const CountedCalls& calls) {
  std::vector<double> values;
  std::vector<Bounds> intervals;
  for (const std::string& operand : row.formula.operands()) {
    const auto total = calls.total(operand);
    if (!total) return std::nullopt;
    values.push_back(total->value);
    if (total->interval) intervals.push_back(*total->interval);
  }
  Ratio ratio{row.scale * row.formula.value(values), std::nullopt};
  if (!std::isfinite(ratio.value)) return std::nullopt;
  if (intervals.size() == values.size()) ratio.interval = row.formula.bounds(intervals);
  if (ratio.interval) {
    ratio.interval->low *= row.scale;
    ratio.interval->high *= row.scale;
  }
  if (!row.part) return ratio;
  ratio.value = percent(ratio.value);
  if (ratio.interval) ratio.interval = {percent(ratio.interval->low), percent(ratio.interval->high)};
  return ratio;
}

}  // namespace lotus::analyzer
