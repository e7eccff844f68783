#include "answers/counters/ratios.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

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

// `threshold`: the share from which on it is told: those of perf's metrics for Sapphire Rapids, which are
// Intel's (MetricThreshold in tools/perf/pmu-events/arch/x86/sapphirerapids/spr-metrics.json of Linux, read
// at commit 26f4b26f76bd: tma_bad_speculation > 0.15, tma_frontend_bound > 0.15, tma_backend_bound > 0.2, and
// of their parts tma_branch_mispredicts > 0.1, tma_machine_clears > 0.1, tma_fetch_latency > 0.1,
// tma_fetch_bandwidth > 0.2, tma_memory_bound > 0.2, tma_core_bound > 0.1, each where its whole is above its
// own). perf has none for AMD's and Arm's metrics: Intel's serve there, too. 100: it is no loss.
struct PartRow {
  TopdownPart part;
  const char* key;
  const char* became;  // of slots
  const char* what;
  double threshold;
  std::optional<TopdownPart> whole;
};

constexpr PartRow kPartRows[] = {
    {TopdownPart::retiring, "retiring_percent", "used by ", "instructions", 100, {}},
    {TopdownPart::bad_speculation, "bad_speculation_percent", "lost to ", "wrong speculation", 15, {}},
    {TopdownPart::frontend, "frontend_bound_percent", "lost to ", "the front end", 15, {}},
    {TopdownPart::backend, "backend_bound_percent", "lost to ", "the back end", 20, {}},
    {TopdownPart::other_thread, "other_thread_percent", "lost to ", "the core's other thread", 100, {}},
    {TopdownPart::heavy_operations, "heavy_operations_percent", "used by ", "microcode and long instructions",
     100, TopdownPart::retiring},
    {TopdownPart::light_operations, "light_operations_percent", "used by ", "other instructions", 100,
     TopdownPart::retiring},
    {TopdownPart::mispredicts, "mispredicts_percent", "lost to ", "mispredicted branches", 10,
     TopdownPart::bad_speculation},
    {TopdownPart::restarts, "restarts_percent", "lost to ", "other restarts of the pipeline", 10,
     TopdownPart::bad_speculation},
    {TopdownPart::fetch_latency, "fetch_latency_percent", "lost to ", "waiting for instructions", 10,
     TopdownPart::frontend},
    {TopdownPart::fetch_bandwidth, "fetch_bandwidth_percent", "lost to ", "decoding instructions", 20,
     TopdownPart::frontend},
    {TopdownPart::memory, "memory_bound_percent", "lost to ", "waiting for memory", 20, TopdownPart::backend},
    {TopdownPart::core, "core_bound_percent", "lost to ", "waiting for execution units", 10,
     TopdownPart::backend},
};

const PartRow& row_of(TopdownPart part) {
  return *std::find_if(std::begin(kPartRows), std::end(kPartRows),
                       [&](const PartRow& row) { return row.part == part; });
}

// Those above their threshold with all of their interval.
using Lost = std::map<TopdownPart, LostSlots::To>;

Lost lost_to(const CountedCalls& calls, const std::vector<RatioRow>& ratios) {
  Lost lost;
  for (const RatioRow& row : ratios) {
    if (!row.part) continue;
    const auto ratio = ratio_of(row, calls);
    if (!ratio || !ratio->interval || ratio->interval->low < row_of(*row.part).threshold) continue;
    lost[*row.part] = {row.key, row_of(*row.part).what, ratio->value, *ratio->interval};
  }
  return lost;
}

// A part of something that is lost says more than that does, and stands for it.
void drop_divided(Lost& lost) {
  std::set<TopdownPart> divided;
  for (auto at = lost.begin(); at != lost.end();) {
    const auto whole = row_of(at->first).whole;
    const bool alone = whole && lost.count(*whole) == 0;
    if (whole && !alone) divided.insert(*whole);
    at = alone ? lost.erase(at) : std::next(at);
  }
  for (const TopdownPart part : divided) lost.erase(part);
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
    rows.push_back({row.key, "% of " + std::string(topdown->unit) + " " + row.became + row.what, 100,
                    Formula(share.formula), share.part});
  }
  return rows;
}

std::vector<LostSlots> lost_slots(const CounterFindings& findings) {
  constexpr double kLeast = 0.01;  // of the time of all that was counted
  const std::vector<RatioRow> ratios = ratio_rows(findings.topdown);
  double wall = 0;
  for (const auto& [op, calls] : findings.ops) wall += calls.wall_ns;
  std::vector<LostSlots> found;
  for (const auto& [op, calls] : findings.ops) {
    if (calls.wall_ns < kLeast * wall) continue;
    Lost lost = lost_to(calls, ratios);
    drop_divided(lost);
    if (lost.empty()) continue;
    LostSlots& slots = found.emplace_back(LostSlots{op, calls.wall_ns, {}});
    for (auto& [part, to] : lost) slots.to.push_back(std::move(to));
    std::stable_sort(slots.to.begin(), slots.to.end(),
                     [](const LostSlots::To& a, const LostSlots::To& b) { return a.percent > b.percent; });
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const LostSlots& a, const LostSlots& b) { return a.wall_ns > b.wall_ns; });
  return found;
}

std::optional<Ratio> ratio_of(const RatioRow& row, const CountedCalls& calls) {
  return ratio_of(row, [&](const std::string& counter) { return calls.total(counter); });
}

std::optional<Ratio> ratio_of(const RatioRow& row, const TotalOf& total_of) {
  std::vector<double> values;
  std::vector<Bounds> intervals;
  for (const std::string& operand : row.formula.operands()) {
    const auto total = total_of(operand);
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
