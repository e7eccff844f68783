#include "answers/counters/views.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "answers/counters/amounts.hpp"
#include "answers/counters/ratios.hpp"
#include "text/csv.hpp"
#include "text/escape.hpp"
#include "text/json_number.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFetches = "(fetches of batches)";

struct CountedRow {
  const OpKey* op;  // nullptr: fetches
  const CountedCalls* calls;

  std::string name() const { return op != nullptr ? escaped(op->name) : std::string(kFetches); }
};

// Operations, longest first, then fetches.
std::vector<CountedRow> counted_rows(const CounterFindings& findings) {
  std::vector<CountedRow> rows;
  for (const auto& [key, calls] : findings.ops)
    if (!calls.counters.empty()) rows.push_back({&key, &calls});
  std::stable_sort(rows.begin(), rows.end(), [](const CountedRow& a, const CountedRow& b) {
    return a.calls->wall_ns > b.calls->wall_ns;
  });
  if (!findings.fetches.counters.empty()) rows.push_back({nullptr, &findings.fetches});
  return rows;
}

Json counter_json(const CountedCalls& calls, const std::string& name, const CounterTotals& totals) {
  const auto total = calls.total(name);
  Json json;
  json["value"] = total ? Json(total->value) : Json(nullptr);
  json["interval"] = total ? bounds_json(total->interval) : Json(nullptr);
  json["per_call"] = total ? Json(total->value / static_cast<double>(calls.calls)) : Json(nullptr);
  json["per_second"] =
      total && calls.wall_ns > 0 ? Json(total->value / (calls.wall_ns / kNsPerS)) : Json(nullptr);
  json["measured_calls"] = total ? total->measured : 0;
  json["on_percent"] = totals.on_percent();
  return json;
}

Json calls_json(const CountedCalls& calls, const std::vector<RatioRow>& ratios) {
  Json json = {{"calls", calls.calls}, {"wall_s", calls.wall_ns / kNsPerS}};
  json["counters"] = Json::object();
  for (const auto& [name, totals] : calls.counters)
    json["counters"][name] = counter_json(calls, name, totals);
  json["ratios"] = Json::object();
  for (const RatioRow& row : ratios)
    if (const auto ratio = ratio_of(row, calls))
      json["ratios"][row.key] = {{"value", ratio->value}, {"interval", bounds_json(ratio->interval)}};
  return json;
}

void add_counters(Table& table, const CountedRow& row, const std::vector<RatioRow>& ratios) {
  std::string name = row.name();
  const CountedCalls& calls = *row.calls;
  const auto all = static_cast<double>(calls.calls);
  for (const auto& [counter, totals] : calls.counters) {
    const auto total = calls.total(counter);
    if (!total) continue;
    const double per_second = calls.wall_ns > 0 ? total->value / (calls.wall_ns / kNsPerS) : 0;
    table.add({std::exchange(name, ""), counter, amount_text(counter, total->value),
               amount_bounds_text(counter, total->interval), amount_text(counter, total->value / all),
               amount_text(counter, per_second),
               human_percent(100 * static_cast<double>(total->measured) / all),
               totals.on_percent() < 100 ? human_percent(totals.on_percent()) : ""});
  }
  for (const RatioRow& ratio : ratios)
    if (const auto value = ratio_of(ratio, calls))
      table.add({"", ratio.title, fmt::format("{:.3g}", value->value),
                 value->interval ? fmt::format("{:.3g}–{:.3g}", value->interval->low, value->interval->high)
                                 : "not known",
                 "", "", "", ""});
}

// The recorder's own numbers for what it could not find by name, too: preload/counters/wanted.hpp.
const char* why_not_counted(std::uint64_t error) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "the machine does not offer them to programs";
    case ESRCH:
      return "neither Lotus nor libpfm4 knows them on that processor; `lotus-collector --encode NAME` says "
             "more";
    case ELIBACC:
      return "the recorder could not look the names up: libpfm4 was not there; use numbers, as r01c2";
    default:
      return std::strerror(static_cast<int>(error));
  }
}

// What is missing, one sentence each.
std::vector<std::string> refused_text(const CounterFindings& findings) {
  std::map<std::uint64_t, std::vector<std::string>> names;
  std::vector<std::string> user_only;
  for (const auto& [name, state] : findings.counters) {
    for (const std::uint64_t error : state.errors) names[error].push_back(escaped(name));
    if (state.user_only) user_only.push_back(escaped(name));
  }
  std::vector<std::string> sentences;
  sentences.reserve(names.size() + 1);
  for (const auto& [error, refused] : names)
    sentences.push_back(
        fmt::format("Not counted: {} ({}).", fmt::join(refused, ", "), why_not_counted(error)));
  if (!user_only.empty())
    sentences.push_back(
        fmt::format("Without what the kernel does for the program: {}.", fmt::join(user_only, ", ")));
  return sentences;
}

constexpr const char* kCountersLegend =
    "Nested operations are part of those around them. What was counted in the measured calls stands for all "
    "calls, by classes of calls that took as long; the intervals (95 %) are those of the value.";

}  // namespace

std::string counters_text(const CounterFindings& findings, const Terminal& terminal) {
  if (findings.counters.empty())
    return "Nothing was counted: record with LOTUS_COUNTERS=default, see docs/counters.md.\n";
  Table table({{.title = "operation", .right = false, .flexible = true, .narrowest = 16},
               {.title = "counter", .right = false},
               {.title = "value"},
               {.title = "95 % interval", .importance = 1},
               {.title = "per call"},
               {.title = "per second", .importance = 3},
               {.title = "measured", .importance = 2},
               {.title = "on", .importance = 4}});
  const std::vector<RatioRow> ratios = ratio_rows(findings.topdown);
  for (const CountedRow& row : counted_rows(findings)) add_counters(table, row, ratios);
  std::string out;
  for (const std::string& told : refused_text(findings))
    out += terminal.styled(Style::dim, wrapped(told, terminal.width)) + "\n";
  if (table.empty()) return out + "No call of an operation was measured.\n";
  return terminal.styled(Style::dim, wrapped(kCountersLegend, terminal.width)) + "\n" + out + "\n" +
         table.text(terminal);
}

Json counters_json(const CounterFindings& findings) {
  Json json = {{"schema", 1}, {"files", findings.files}, {"processors", findings.processors}};
  json["topdown"] = nullptr;
  if (const TopdownModel* topdown = findings.topdown)
    json["topdown"] = {{"of", topdown->name}, {"unit", topdown->unit}};
  const std::vector<RatioRow> ratios = ratio_rows(findings.topdown);
  json["counters"] = Json::object();
  for (const auto& [name, state] : findings.counters) {
    Json errors = Json::array();
    for (const std::uint64_t error : state.errors) errors.push_back(why_not_counted(error));
    json["counters"][name] = {{"user_only", state.user_only}, {"errors", std::move(errors)}};
  }
  json["ops"] = Json::array();
  for (const CountedRow& row : counted_rows(findings)) {
    if (row.op == nullptr) continue;
    Json op = {{"name", row.op->name}, {"qualified", row.op->qualified}};
    op.update(calls_json(*row.calls, ratios));
    json["ops"].push_back(std::move(op));
  }
  json["fetches"] = calls_json(findings.fetches, ratios);
  return json;
}

std::string counters_csv(const CounterFindings& findings) {
  std::string out =
      "operation,qualified,calls,measured_calls,counter,value,low,high,per_call,per_second,on_percent\n";
  const auto number = [](const Json& value) {
    return value.is_null() ? std::string() : fmt::format("{}", value.get<double>());
  };
  const auto end = [&](const Json& interval, std::size_t which) {
    return interval.is_null() ? std::string() : number(interval[which]);
  };
  const std::vector<RatioRow> ratios = ratio_rows(findings.topdown);
  for (const CountedRow& row : counted_rows(findings)) {
    const std::string head =
        (row.op != nullptr ? csv_cell(escaped(row.op->name)) + "," + csv_cell(escaped(row.op->qualified))
                           : ",") +
        "," + std::to_string(row.calls->calls) + ",";
    const Json json = calls_json(*row.calls, ratios);
    for (const auto& [name, value] : json["counters"].items())
      out += head + value["measured_calls"].dump() + "," + csv_cell(escaped(name)) + "," +
             number(value["value"]) + "," + end(value["interval"], 0) + "," + end(value["interval"], 1) +
             "," + number(value["per_call"]) + "," + number(value["per_second"]) + "," +
             number(value["on_percent"]) + "\n";
    for (const auto& [name, value] : json["ratios"].items())
      out += head + "," + csv_cell(name) + "," + number(value["value"]) + "," + end(value["interval"], 0) +
             "," + end(value["interval"], 1) + ",,,\n";
  }
  return out;
}

}  // namespace lotus::analyzer
