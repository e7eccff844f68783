// Tables of operations and of what runs inside them.
#include <cmath>

#include "tables/tables.hpp"

namespace lotus::analyzer {
namespace {

using Cell = DataTable::Cell;

Cell or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Cell(*value) : Cell(nullptr);
}

Cell share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? Cell(nullptr) : Cell(100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

DataTable mapping_table(const std::vector<RunData>& runs) {
  DataTable table{{{"run", "run", Unit::text, 3},
                   {"operation", "operation"},
                   {"function", "function", Unit::text, 0, true},
                   {"library", "library", Unit::text, 2},
                   {"share_percent", "share", Unit::percent, 1},
                   {"share_percent_low", "at least", Unit::percent, 4},
                   {"share_percent_high", "at most", Unit::percent, 4},
                   {"calls_to_see", "calls to see", Unit::number, 5}},
                  {}};
  for (const auto& run : runs)
    for (const auto& one : run.mapping)
      table.add({run.configuration.label, one.function.op, one.function.function, one.function.library,
                 or_null(one.share_percent), or_null(one.low_percent), or_null(one.high_percent),
                 or_null(one.calls_to_see)});
  return table;
}

DataTable ops_table(const std::vector<RunData>& runs) {
  DataTable table{{{"run", "run", Unit::text, 1},
                   {"operation", "operation", Unit::text, 0, true},
                   {"count", "calls", Unit::count, 2},
                   {"mean_ms", "mean", Unit::ms},
                   {"median_ms", "median", Unit::ms, 4},
                   {"p90_ms", "P90", Unit::ms},
                   {"std_ms", "std", Unit::ms, 5},
                   {"sum_s", "sum", Unit::seconds, 3},
                   {"under_10ms_percent", "<10 ms", Unit::percent},
                   {"under_100us_percent", "<100 µs", Unit::percent}},
                  {}};
  for (const auto& run : runs)
    for (const auto& op : run.findings.ops) {
      const Summary s = op.wall.summary();
      table.add({run.configuration.label, op.op.name, s.count, s.mean / 1e6, s.p50 / 1e6, s.p90 / 1e6,
                 s.std / 1e6, op.wall.sum() / 1e9, share(op.under_10ms, s.count),
                 share(op.under_100us, s.count)});
    }
  return table;
}

DataTable counters_table(const std::vector<RunData>& runs) {
  DataTable table{{{"run", "run", Unit::text, 3},
                   {"counter", "counter"},
                   {"was_percent", nullptr},
                   {"function", "function", Unit::text, 0, true},
                   {"library", "library", Unit::text, 2},
                   {"operation", "operation"},
                   {"value", "value", Unit::number},
                   {"share_percent", "of the function", Unit::percent, 1}},
                  {}};
  const auto add = [&](const RunData& run, const CounterSplit& counter, const FunctionSplit& function,
                       const Cell& op, double value) {
    table.add({run.configuration.label, counter.name, counter.percent, function.function, function.library,
               op, value, function.value > 0 ? Cell(100 * value / function.value) : Cell(nullptr)});
  };
  for (const auto& run : runs)
    for (const auto& counter : run.counters)
      for (const auto& function : counter.functions) {
        for (const auto& [op, value] : function.by_op) add(run, counter, function, op, value);
        if (function.unmapped > 0) add(run, counter, function, nullptr, function.unmapped);
      }
  return table;
}

}  // namespace lotus::analyzer
