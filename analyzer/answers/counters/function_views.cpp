#include "answers/counters/function_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "answers/counters/amounts.hpp"
#include "answers/counters/ratios.hpp"
#include "text/csv.hpp"
#include "text/escape.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostShown = 20;

// One counter in one function.
struct Cell {
  SampledTotal total;
  double share;       // of all functions, in percent
  double per_second;  // of the function's CPU time
};

std::optional<Cell> cell_of(const CountedFunction& function, const std::string& counter,
                            const FunctionCounts& counts) {
  const auto all = counts.all.counters.find(counter);
  if (all == counts.all.counters.end()) return std::nullopt;
  const auto total = function.total(counter, static_cast<double>(all->second.calls));
  if (!total) return std::nullopt;
  const double seconds = function.own.cpu.cpu_ns / kNsPerS;
  return Cell{*total, all->second.sum > 0 ? 100 * total->value / all->second.sum : 0,
              seconds > 0 ? total->value / seconds : 0};
}

std::optional<Ratio> ratio_in(const RatioRow& row, const CountedFunction& function,
                              const FunctionCounts& counts) {
  return ratio_of(row, [&](const std::string& counter) -> std::optional<SampledTotal> {
    const auto cell = cell_of(function, counter, counts);
    return cell ? std::optional(cell->total) : std::nullopt;
  });
}

std::string name_of(const CountedFunction& function) {
  return escaped(function_text(function.frame.name, function.under, function.frame.by_code()));
}

void add_function(Table& table, const CountedFunction& function, const FunctionCounts& counts,
                  const std::vector<RatioRow>& ratios) {
  std::string name = name_of(function);
  std::string library = escaped(function.frame.library);
  for (const auto& [counter, all] : counts.all.counters) {
    const auto cell = cell_of(function, counter, counts);
    if (!cell) continue;
    table.add({std::exchange(name, ""), std::exchange(library, ""), counter,
               amount_text(counter, cell->total.value), amount_bounds_text(counter, cell->total.interval),
               human_percent(cell->share), amount_text(counter, cell->per_second),
               human_count(cell->total.measured)});
  }
  for (const RatioRow& row : ratios)
    if (const auto ratio = ratio_in(row, function, counts))
      table.add({"", "", row.title, fmt::format("{:.3g}", ratio->value),
                 ratio->interval ? fmt::format("{:.3g}–{:.3g}", ratio->interval->low, ratio->interval->high)
                                 : "not known",
                 "", "", ""});
}

constexpr const char* kFunctionsLegend =
    "Functions of operations, by CPU time. Each stack sample carries what its thread counted since its last "
    "one, "
    "and the function in which the sample came gets it: true on average, with the interval (95 %). Share: of "
    "all "
    "functions; per second: of the function's CPU time.";

}  // namespace

std::string functions_text(const FunctionCounts& counts, const CounterFindings& findings,
                           const Terminal& terminal) {
  if (counts.functions.empty())
    return "No stack sample carries counts: record with LOTUS_COUNTERS=default, and with samples "
           "(LOTUS_SAMPLE_HZ=199); see docs/counters.md.\n";
  Table table({{.title = "function", .right = false, .flexible = true, .narrowest = 24},
               {.title = "library", .right = false, .importance = 3},
               {.title = "counter", .right = false},
               {.title = "value"},
               {.title = "95 % interval", .importance = 1},
               {.title = "share"},
               {.title = "per second", .importance = 2},
               {.title = "samples", .importance = 4}});
  const std::vector<RatioRow> ratios = ratio_rows(findings.topdown);
  const std::size_t shown = std::min(kMostShown, counts.functions.size());
  for (std::size_t i = 0; i < shown; ++i) add_function(table, counts.functions[i], counts, ratios);
  std::string rest;
  if (shown < counts.functions.size())
    rest = fmt::format("  and {} more, in --json and --csv\n", counts.functions.size() - shown);
  return terminal.styled(Style::dim, wrapped(kFunctionsLegend, terminal.width)) + "\n\n" +
         table.text(terminal) + rest;
}

Json functions_json(const FunctionCounts& counts, const CounterFindings& findings) {
  const std::vector<RatioRow> ratios = ratio_rows(findings.topdown);
  Json functions = Json::array();
  for (const CountedFunction& function : counts.functions) {
    Json json = {{"function", function.frame.name},
                 {"library", function.frame.library},
                 {"under", function.under.empty() ? Json(nullptr) : Json(function.under)},
                 {"python", function.frame.part == Part::python},
                 {"samples", function.own.cpu.samples},
                 {"cpu_s", function.own.cpu.cpu_ns / kNsPerS}};
    json["counters"] = Json::object();
    for (const auto& [counter, all] : counts.all.counters)
      if (const auto cell = cell_of(function, counter, counts))
        json["counters"][counter] = {{"value", cell->total.value},
                                     {"interval", bounds_json(cell->total.interval)},
                                     {"share_percent", cell->share},
                                     {"per_second", cell->per_second},
                                     {"samples", cell->total.measured}};
    json["ratios"] = Json::object();
    for (const RatioRow& row : ratios)
      if (const auto ratio = ratio_in(row, function, counts))
        json["ratios"][row.key] = {{"value", ratio->value}, {"interval", bounds_json(ratio->interval)}};
    functions.push_back(std::move(json));
  }
  return functions;
}

std::string functions_csv(const FunctionCounts& counts, const CounterFindings& findings) {
  std::string out = "function,library,samples,counter,value,low,high,share_percent,per_second\n";
  const auto bounds = [](const std::optional<Bounds>& interval) {
    return interval ? fmt::format("{},{}", interval->low, interval->high) : std::string(",");
  };
  const std::vector<RatioRow> ratios = ratio_rows(findings.topdown);
  for (const CountedFunction& function : counts.functions) {
    const std::string head =
        csv_cell(escaped(function.frame.name)) + "," + csv_cell(escaped(function.frame.library)) + ",";
    for (const auto& [counter, all] : counts.all.counters)
      if (const auto cell = cell_of(function, counter, counts))
        out += fmt::format("{}{},{},{},{},{},{}\n", head, cell->total.measured, csv_cell(escaped(counter)),
                           cell->total.value, bounds(cell->total.interval), cell->share, cell->per_second);
    for (const RatioRow& row : ratios)
      if (const auto ratio = ratio_in(row, function, counts))
        out += fmt::format("{},{},{},{},,\n", head, csv_cell(row.key), ratio->value, bounds(ratio->interval));
  }
  return out;
}

}  // namespace lotus::analyzer
