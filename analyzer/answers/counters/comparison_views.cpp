#include "answers/counters/comparison_views.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "answers/counters/amounts.hpp"
#include "text/escape.hpp"
#include "text/json_number.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

bool nothing_counted(const CounterComparison& c) {
  return c.changes.empty() && c.only_before.empty() && c.only_after.empty() && c.of_other_parts.empty();
}

std::string names_text(const std::set<std::string>& names) {
  return escaped(fmt::format("{}", fmt::join(names, ", ")));
}

std::string counter_percent_text(const Difference& change) {
  if (change.before.mean <= 0) return "new";
  return fmt::format("{:+.1f} %", 100 * (change.after.mean - change.before.mean) / change.before.mean);
}

std::string counter_interval_text(const Difference& change) {
  if (change.before.mean <= 0 || !std::isfinite(change.low)) return "-";
  const double whole = change.before.mean / 100;
  return fmt::format("[{:+.1f}, {:+.1f}]", change.low / whole, change.high / whole);
}

void add_counter_change(Table& table, const CounterChange& changed) {
  const Difference& change = changed.per_call;
  table.add({escaped(changed.counter), changed.op ? escaped(*changed.op) : "(fetches of batches)",
             amount_text(changed.counter, change.before.mean),
             amount_text(changed.counter, change.after.mean), counter_percent_text(change),
             counter_interval_text(change), change.after.mean > change.before.mean ? "more" : "less"});
}

// In the order of the table: what changed by most of its own value first.
std::vector<const CounterChange*> certain_changes(const CounterComparison& comparison) {
  std::vector<const CounterChange*> certain;
  for (const CounterChange& change : comparison.changes)
    if (change.per_call.certain) certain.push_back(&change);
  const auto weight = [](const CounterChange* change) {
    const double before = change->per_call.before.mean;
    return before > 0 ? change->per_call.size() / before : INFINITY;
  };
  std::stable_sort(certain.begin(), certain.end(),
                   [&](const CounterChange* a, const CounterChange* b) { return weight(a) > weight(b); });
  return certain;
}

std::string counter_changes_table(const CounterComparison& comparison, const Terminal& terminal) {
  const auto certain = certain_changes(comparison);
  if (certain.empty()) return "No counter changed beyond what is chance.\n";
  Table table({{.title = "counter", .right = false},
               {.title = "operation", .right = false, .flexible = true, .narrowest = 18},
               {"before"},
               {"after"},
               {"change"},
               {.title = "95 %, all rows", .importance = 1},
               {.right = false, .style = Style::bold}});
  for (const CounterChange* change : certain) add_counter_change(table, *change);
  const std::size_t others = comparison.changes.size() - certain.size();
  if (others == 0) return table.text(terminal);
  return table.text(terminal) +
         wrapped(fmt::format("Counters, per call, whose change may be chance: {} more, in --json.",
                             human_count(others)),
                 terminal.width) +
         "\n";
}

// Beside what chance explains.
std::string counter_doubts(const CounterComparison& c) {
  std::string text;
  if (c.other_processors())
    text += fmt::format(
        "The runs are of different processors ({}; {}), whose cycles, misses and slots differ by that "
        "alone. ",
        names_text(c.processors_before), names_text(c.processors_after));
  if (!c.only_before.empty()) text += fmt::format("Only before: {}. ", names_text(c.only_before));
  if (!c.only_after.empty()) text += fmt::format("Only after: {}. ", names_text(c.only_after));
  if (!c.of_other_parts.empty())
    text += fmt::format("Not compared, since one run lacks what the kernel did for the program: {}. ",
                        names_text(c.of_other_parts));
  if (!text.empty()) text.pop_back();
  return text;
}

Json counter_estimate_json(const Estimate& estimate) {
  return {{"per_call", number_or_null(estimate.mean)}, {"error", number_or_null(estimate.error)}};
}

}  // namespace

std::string counter_changes_text(const CounterComparison& comparison, const Terminal& terminal) {
  if (nothing_counted(comparison)) return {};
  std::string text;
  if (!comparison.changes.empty()) text = "\n" + counter_changes_table(comparison, terminal);
  if (const std::string told = counter_doubts(comparison); !told.empty())
    text += "\n" + wrapped(told, terminal.width) + "\n";
  return text;
}

Json counter_changes_json(const CounterComparison& comparison, const std::optional<std::string>& op) {
  Json json = Json::object();
  for (const CounterChange& changed : comparison.changes) {
    if (changed.op != op) continue;
    const Difference& change = changed.per_call;
    json[changed.counter] = {
        {"before", counter_estimate_json(change.before)},
        {"after", counter_estimate_json(change.after)},
        {"difference_interval", {number_or_null(change.low), number_or_null(change.high)}},
        {"changed", change.certain}};
  }
  return json;
}

Json counter_comparison_json(const CounterComparison& comparison) {
  if (nothing_counted(comparison)) return nullptr;
  return {{"fetches", counter_changes_json(comparison, std::nullopt)},
          {"only_before", comparison.only_before},
          {"only_after", comparison.only_after},
          {"of_other_parts", comparison.of_other_parts},
          {"processors", {comparison.processors_before, comparison.processors_after}}};
}

}  // namespace lotus::analyzer
