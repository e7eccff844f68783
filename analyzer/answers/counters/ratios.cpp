#include "answers/counters/ratios.hpp"

#include <limits>

namespace lotus::analyzer {
namespace {

// As `perf stat` has them (tools/perf/util/stat-shadow.c in Linux): "insn per cycle", "of all cache refs",
// "of all branches"; misses per thousand instructions as in Hennessy and Patterson, Computer Architecture,
// appendix B.2.
constexpr RatioRow kRatioRows[] = {
    {"ipc", "instructions per cycle", "instructions", "cycles", 1},
    {"cache_mpki", "cache misses per 1000 instructions", "cache-misses", "instructions", 1000},
    {"cache_miss_percent", "% of cache references missed", "cache-misses", "cache-references", 100},
    {"branch_mpki", "branch misses per 1000 instructions", "branch-misses", "instructions", 1000},
    {"branch_miss_percent", "% of branches missed", "branch-misses", "branches", 100},
    {"l1d_mpki", "L1 data load misses per 1000 instructions", "L1-dcache-load-misses", "instructions", 1000},
    {"llc_mpki", "LLC load misses per 1000 instructions", "LLC-load-misses", "instructions", 1000},
    {"dtlb_mpki", "dTLB load misses per 1000 instructions", "dTLB-load-misses", "instructions", 1000},
    {"itlb_mpki", "iTLB load misses per 1000 instructions", "iTLB-load-misses", "instructions", 1000},
};

double over(double part, double whole) {
  return whole > 0 ? part / whole : std::numeric_limits<double>::infinity();
}

}  // namespace

std::span<const RatioRow> ratio_rows() { return kRatioRows; }

std::optional<Ratio> ratio_of(const RatioRow& row, const CountedCalls& calls) {
  const auto part = calls.total(row.numerator);
  const auto whole = calls.total(row.denominator);
  if (!part || !whole || whole->value <= 0) return std::nullopt;
  Ratio ratio{row.scale * part->value / whole->value, std::nullopt};
  if (part->interval && whole->interval)
    ratio.interval = {row.scale * over(part->interval->low, whole->interval->high),
                      row.scale * over(part->interval->high, whole->interval->low)};
  return ratio;
}

}  // namespace lotus::analyzer
