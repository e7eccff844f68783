// Tables of operations and of what runs inside them.
#include "paper/tables/tables.hpp"
#include "text/json_number.hpp"

namespace lotus::analyzer {

DataTable mapping_table(const std::vector<RunData>& runs) {
  DataTable table{{{"run", "run", Unit::text},
                   {"operation", "operation"},
                   {"function", "function", Unit::function, 0, true},
                   {"library", "library", Unit::text, 2},
                   {"share_percent", "share", Unit::percent, 1},
                   {"share_percent_low", "at least", Unit::percent, 4},
                   {"share_percent_high", "at most", Unit::percent, 4},
                   {"calls_to_see", "calls to see", Unit::number, 5}},
                  {}};
  for (const auto& run : runs)
    for (const auto& one : run.mapping)
      table.add({run.configuration.label, one.function.op, one.function.function, one.function.library,
                 number_or_null(one.share_percent), number_or_null(one.low_percent),
                 number_or_null(one.high_percent), number_or_null(one.calls_to_see)});
  return table;
}

DataTable ops_table(const std::vector<RunData>& runs) {
  DataTable table{{{"run", "run", Unit::text},
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
                 s.std / 1e6, op.wall.sum() / 1e9, percent_or_null(op.under_10ms, s.count),
                 percent_or_null(op.under_100us, s.count)});
    }
  return table;
}

DataTable counters_table(const std::vector<RunData>& runs) {
  DataTable table{{{"run", "run", Unit::text},
                   {"counter", "counter"},
                   {"was_percent", nullptr},
                   {"function", "function", Unit::function, 0, true},
                   {"library", "library", Unit::text, 2},
                   {"operation", "operation"},
                   {"value", "value", Unit::number},
                   {"share_percent", "of the function", Unit::percent, 1}},
                  {}};
  const auto add = [&](const RunData& run, const CounterSplit& counter, const FunctionSplit& function,
                       const DataTable::Cell& op, double value) {
    table.add({run.configuration.label, counter.name, counter.percent, function.function, function.library,
               op, value, percent_or_null(value, function.value)});
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
