// Figures 6b to 6h: operations and native functions by configuration.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "paper/figures/figures.hpp"
#include "paper/figures/run_columns.hpp"
#include "paper/split/counters.hpp"
#include "paper/tables/own_counters.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/function_name.hpp"

namespace lotus::analyzer {
namespace {

// Names of the traces' counters, each once, in their order.
template <class Wanted>
std::vector<std::string> counters_of(const std::vector<RunData>& runs, Wanted wanted) {
  std::vector<std::string> names;
  for (const auto& run : runs)
    for (const auto& counter : run.counters)
      if (wanted(counter.name) && std::find(names.begin(), names.end(), counter.name) == names.end())
        names.push_back(counter.name);
  return names;
}

std::vector<std::string> all_counters(const std::vector<RunData>& runs) {
  return counters_of(runs, [](const auto&) { return true; });
}

// Those whose names begin as the user said; else those that are not CPU time and not clockticks.
std::vector<std::string> chosen(const std::vector<RunData>& runs, const FigureOptions& options) {
  if (options.counters.empty())
    return counters_of(runs, [](const auto& name) {
      return !is_cpu_time(name) && !is_clockticks(name) && !is_own_time(name);
    });
  std::vector<std::string> names;
  for (const auto& beginning : options.counters) {
    const auto found = counters_of(runs, [&](const auto& name) { return name.starts_with(beginning); });
    if (found.empty())
      throw WrongUsage(fmt::format("--counter {}: no such counter; there are: {}", escaped(beginning),
                                   escaped(fmt::format("{}", fmt::join(all_counters(runs), ", ")))));
    names.insert(names.end(), found.begin(), found.end());
  }
  return names;
}

// `names`: the counters that there are for other figures.
[[noreturn]] void refuse(const std::vector<RunData>& runs, const std::vector<std::string>& names) {
  constexpr const char* kRemedy =
      "record with LOTUS_COUNTERS=default (docs/counters.md), or import a profiler's table that has them "
      "with `lotus-analyze import --mapping JSON --uarch CSV`, or name another by --counter";
  if (!names.empty())
    throw Unusable(
        fmt::format("the traces hold no second counter beside {}, which figures 6e and 6f show: {}",
                    escaped(names.front()), kRemedy));
  const auto all = all_counters(runs);
  const std::string but = all.empty() ? "" : " but " + escaped(fmt::format("{}", fmt::join(all, " and ")));
  throw Unusable(fmt::format("the traces hold no counter{}: {}", but, kRemedy));
}

using Function = std::pair<std::string, std::string>;  // name, library

// Names as in tables, but each its function's own: of those that shorten to the same, the library tells them
// apart, else a number in the order of their whole names.
std::map<Function, std::string> labels_of(const std::set<Function>& functions) {
  std::map<std::string, std::set<std::string>> libraries;  // by shortened name
  for (const auto& [name, library] : functions) libraries[readable_function(name)].insert(library);
  std::map<Function, std::string> labels;
  std::set<std::string> taken;
  for (const auto& function : functions) {
    std::string text = readable_function(function.first);
    if (libraries[text].size() > 1 && !function.second.empty()) text += " (" + function.second + ")";
    std::string label = text;
    for (int number = 2; !taken.insert(label).second; ++number) label = fmt::format("{} #{}", text, number);
    labels.emplace(function, std::move(label));
  }
  return labels;
}

DataTable by_function(const std::vector<RunData>& runs, const std::string& name) {
  DataTable table{run_columns({{"counter", "counter"},
                               {"was_percent", "share"},
                               {"function", "function"},
                               {"library", "library"},
                               {"label", "label"},
                               {"value", "value", Unit::number}}),
                  {}};
  std::set<Function> functions;
  const auto each = [&](auto&& visit) {
    for (const auto& run : runs)
      for (const auto& counter : run.counters)
        if (counter.name == name)
          for (const auto& function : counter.functions) visit(run, counter, function);
  };
  each([&](const auto&, const auto&, const auto& function) {
    functions.emplace(function.function, function.library);
  });
  const auto labels = labels_of(functions);
  each([&](const auto& run, const auto& counter, const auto& function) {
    table.add(run_cells(run, {name, counter.percent, function.function, function.library,
                              labels.at({function.function, function.library}), function.value}));
  });
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

// By operation: of a profiler's table without a mapping. By function: of a trace without samples.
DataTable some_of(DataTable table, By by) {
  if (!table.rows.empty()) return table;
  if (by == by_op) throw Unusable("no counter belongs to an operation: import it with `--mapping JSON`, too");
  throw Unusable(
      "counts of operations are known, but not of functions: record with samples of stacks, too "
      "(LOTUS_SAMPLE_HZ)");
}

DataTable counter_number(const std::vector<RunData>& runs, const FigureOptions& options, std::size_t number,
                         By by) {
  const auto names = chosen(runs, options);
  const std::size_t place = options.counters.empty() ? number : std::min(number, names.size() - 1);
  if (place >= names.size()) refuse(runs, names);
  return some_of(by(runs, names[place]), by);
}

// Of samples, or of a profiler's table.
DataTable cpu_time(const std::vector<RunData>& runs, By by) {
  for (const auto& run : runs)
    for (const auto& counter : run.counters)
      if (is_cpu_time(counter.name)) return some_of(by(runs, counter.name), by);
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
