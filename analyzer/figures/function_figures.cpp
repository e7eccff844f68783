// Figures 6b to 6h: operations and native functions by configuration.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "figures/figures.hpp"
#include "figures/run_columns.hpp"
#include "split/counters.hpp"
#include "text/escape.hpp"
#include "trace/error.hpp"

namespace lotus::analyzer {
namespace {

constexpr const char* kNoCounters =
    "the traces hold no such counter: Lotus itself records none of the processor's; import a profiler's "
    "table with `lotus-analyze import --mapping JSON --uarch CSV`";

// Names of counters that are not CPU time and not clockticks, in the order of the traces, chosen by their
// beginnings if any were named.
std::vector<std::string> chosen(const std::vector<RunData>& runs, const FigureOptions& options) {
  std::vector<std::string> names;
  for (const auto& run : runs)
    for (const auto& counter : run.counters) {
      const bool plain = !is_cpu_time(counter.name) && !is_clockticks(counter.name);
      if (plain && std::find(names.begin(), names.end(), counter.name) == names.end())
        names.push_back(counter.name);
    }
  if (options.counters.empty()) return names;
  std::vector<std::string> wanted;
  for (const auto& beginning : options.counters) {
    std::size_t before = wanted.size();
    for (const auto& run : runs)
      for (const auto& counter : run.counters)
        if (counter.name.starts_with(beginning) &&
            std::find(wanted.begin(), wanted.end(), counter.name) == wanted.end())
          wanted.push_back(counter.name);
    if (wanted.size() == before)
      throw WrongUsage(fmt::format("--counter {}: no such counter; there are {}", escaped(beginning),
                                   fmt::join(names, ", ")));
  }
  return wanted;
}

DataTable by_function(const std::vector<RunData>& runs, const std::string& name) {
  DataTable table{run_columns({{"counter", "counter"},
                               {"was_percent", "share"},
                               {"function", "function"},
                               {"library", "library"},
                               {"value", "value", Unit::number}}),
                  {}};
  for (const auto& run : runs)
    for (const auto& counter : run.counters)
      if (counter.name == name)
        for (const auto& function : counter.functions)
          table.add(
              run_cells(run, {name, counter.percent, function.function, function.library, function.value}));
  return table;
}

DataTable by_op(const std::vector<RunData>& runs, const std::string& name) {
  DataTable table{run_columns({{"counter", "counter"},
                               {"was_percent", "share"},
                               {"operation", "operation"},
                               {"value", "value", Unit::number}}),
                  {}};
  for (const auto& run : runs)
    for (const auto& counter : run.counters)
      if (counter.name == name)
        for (const auto& [op, value] : counter.by_op)
          table.add(run_cells(run, {name, counter.percent, op, value}));
  return table;
}

using By = DataTable (*)(const std::vector<RunData>&, const std::string&);

DataTable counter_number(const std::vector<RunData>& runs, const FigureOptions& options, std::size_t number,
                         By by) {
  const auto names = chosen(runs, options);
  if (names.empty()) throw Unusable(kNoCounters);
  DataTable table = by(runs, names[std::min(number, names.size() - 1)]);
  if (table.rows.empty())
    throw Unusable("no counter belongs to an operation: import it with `--mapping JSON`, too");
  return table;
}

// Of samples, or of a profiler's table.
DataTable cpu_time(const std::vector<RunData>& runs, By by) {
  for (const auto& run : runs)
    for (const auto& counter : run.counters)
      if (is_cpu_time(counter.name)) return by(runs, counter.name);
  throw Unusable("the traces hold neither samples of stacks nor a profiler's CPU time");
}

}  // namespace

DataTable op_time_figure(const std::vector<RunData>& runs, const FigureOptions&) {
  DataTable table{run_columns({{"operation", "operation"}, {"seconds", "time", Unit::seconds}}), {}};
  for (const auto& run : runs)
    for (const auto& op : run.findings.ops) table.add(run_cells(run, {op.op.name, op.wall.sum() / 1e9}));
  if (table.rows.empty()) throw Unusable("the traces hold no operation");
  return table;
}

DataTable function_time_figure(const std::vector<RunData>& runs, const FigureOptions&) {
  return cpu_time(runs, by_function);
}
DataTable op_cpu_figure(const std::vector<RunData>& runs, const FigureOptions&) {
  return cpu_time(runs, by_op);
}
DataTable first_counter_by_function(const std::vector<RunData>& runs, const FigureOptions& options) {
  return counter_number(runs, options, 0, by_function);
}
DataTable first_counter_by_op(const std::vector<RunData>& runs, const FigureOptions& options) {
  return counter_number(runs, options, 0, by_op);
}
DataTable second_counter_by_function(const std::vector<RunData>& runs, const FigureOptions& options) {
  return counter_number(runs, options, 1, by_function);
}
DataTable second_counter_by_op(const std::vector<RunData>& runs, const FigureOptions& options) {
  return counter_number(runs, options, 1, by_op);
}

}  // namespace lotus::analyzer
