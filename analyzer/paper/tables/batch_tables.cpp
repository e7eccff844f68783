// Tables of batches, and of the abilities of profilers.
#include "paper/tables/tables.hpp"
#include "text/json_number.hpp"

namespace lotus::analyzer {
namespace {

void add_batches(DataTable& table, const std::string& label, const Series& series, bool trimmed) {
  const Summary s = series.summary();
  if (s.count == 0) return;
  table.add({label, trimmed, s.count, series.sum() / 1e9, s.mean / 1e6, s.std / 1e6,
             percent_or_null(s.std, s.mean), s.min / 1e6, s.p25 / 1e6, s.p50 / 1e6, s.p75 / 1e6, s.max / 1e6,
             (s.p75 - s.p25) / 1e6});
}

// The other profilers, by published comparisons.
struct Tool {
  const char* name;
  bool epoch, batch, interaction, wait, delay;
};
constexpr Tool kTools[] = {{"LotusTrace", true, true, true, true, true},
                           {"py-spy", true, false, false, false, false},
                           {"austin", true, false, false, false, false},
                           {"PyTorch profiler", false, false, false, true, false},
                           {"Scalene", false, false, false, false, false}};

// Seen in every one of the traces.
Tool seen_in(const std::vector<RunData>& runs) {
  Tool seen{"Lotus, in these traces", true, true, true, true, true};
  for (const auto& run : runs) {
    bool received = false;
    for (const auto& batch : run.batches) received = received || (batch.fetch_ns && batch.consumed);
    seen.epoch = seen.epoch && !run.epochs.empty();
    seen.batch = seen.batch && !run.findings.fetch.empty();
    seen.interaction = seen.interaction && received;
    seen.wait = seen.wait && !run.findings.wait.empty();
    seen.delay = seen.delay && !run.findings.delay.empty();
  }
  return seen;
}

}  // namespace

DataTable batches_table(const std::vector<RunData>& runs) {
  DataTable table{{{"run", "run", Unit::text},
                   {"trimmed", "trimmed", Unit::text},
                   {"count", "batches", Unit::count},
                   {"sum_s", "sum", Unit::seconds, 3},
                   {"mean_ms", "mean", Unit::ms},
                   {"std_ms", "std", Unit::ms},
                   {"std_percent", "of mean", Unit::percent},
                   {"min_ms", "min", Unit::ms, 5},
                   {"p25_ms", "p25", Unit::ms, 2},
                   {"median_ms", "median", Unit::ms},
                   {"p75_ms", "p75", Unit::ms, 2},
                   {"max_ms", "max", Unit::ms, 5},
                   {"iqr_ms", "IQR", Unit::ms, 4}},
                  {}};
  for (const auto& run : runs) {
    const Series& all = run.findings.fetch;
    add_batches(table, run.configuration.label, all, false);
    add_batches(table, run.configuration.label, all.at_least(all.summary().trimming_limit()), true);
  }
  return table;
}

DataTable waits_table(const std::vector<RunData>& runs) {
  DataTable table{{{"run", "run", Unit::text},
                   {"waits", "waits", Unit::count, 3},
                   {"stall_percent", "stalled", Unit::percent},
                   {"out_of_order_percent", "out of order", Unit::percent},
                   {"wait_over_500ms_percent", "wait>500ms", Unit::percent},
                   {"wait_over_1ms_percent", ">1ms", Unit::percent, 2},
                   {"wait_under_1ms_in_order_percent", "<1ms in order", Unit::percent, 4},
                   {"delay_over_500ms_percent", "delay>500ms", Unit::percent},
                   {"delay_under_250ms_percent", "<250ms", Unit::percent, 1}},
                  {}};
  for (const auto& run : runs) {
    const Findings& f = run.findings;
    const std::uint64_t waits = f.wait.count();
    const std::uint64_t delays = f.delay.count();
    table.add({run.configuration.label, waits, percent_or_null(f.wait.sum(), f.wall),
               percent_or_null(f.out_of_order, waits), percent_or_null(f.wait_over_500ms, waits),
               percent_or_null(f.wait_over_1ms, waits), percent_or_null(f.wait_under_1ms_in_order, waits),
               percent_or_null(f.delay_over_500ms, delays), percent_or_null(f.delay_under_250ms, delays)});
  }
  return table;
}

DataTable functions_table(const std::vector<RunData>& runs) {
  DataTable table{{{"tool", "tool", Unit::text},
                   {"epoch", "epoch", Unit::text},
                   {"batch", "batch", Unit::text},
                   {"interaction", "main and workers", Unit::text},
                   {"wait", "wait", Unit::text},
                   {"delay", "delay", Unit::text}},
                  {}};
  const auto add = [&](const Tool& tool) {
    table.add({tool.name, tool.epoch, tool.batch, tool.interaction, tool.wait, tool.delay});
  };
  add(seen_in(runs));
  for (const Tool& tool : kTools) add(tool);
  return table;
}

}  // namespace lotus::analyzer
