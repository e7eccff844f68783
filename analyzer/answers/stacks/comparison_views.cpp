#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "answers/counters/comparison_views.hpp"
#include "answers/stacks/comparison.hpp"
#include "text/escape.hpp"
#include "text/function_name.hpp"
#include "text/json_number.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

using Json = nlohmann::ordered_json;

// Errors and limits are infinite if there are too few batches to estimate them.
Json estimate_json(const Estimate& e) {
  return {{"mean_ns", number_or_null(e.mean)}, {"error_ns", number_or_null(e.error)}};
}

Json change_json(const Difference& change) {
  return {{"before", estimate_json(change.before)},
          {"after", estimate_json(change.after)},
          {"difference_interval_ns", {number_or_null(change.low), number_or_null(change.high)}},
          {"changed", change.certain}};
}

std::string signed_percent(double percent) { return fmt::format("{:+.1f} %", percent); }

// The change in percent of the value before.
std::string change_text(const Difference& change) {
  if (change.before.mean <= 0) return "new";
  return signed_percent(100 * (change.after.mean - change.before.mean) / change.before.mean);
}

std::string interval_text(const Difference& change) {
  if (change.before.mean <= 0 || !std::isfinite(change.low)) return "-";
  const double whole = change.before.mean / 100;
  return fmt::format("[{:+.1f}, {:+.1f}]", change.low / whole, change.high / whole);
}

std::string mark(const Difference& change) {
  if (!change.certain) return "";
  return change.after.mean > change.before.mean ? "dearer" : "cheaper";
}

void add_change(Table& table, std::string name, std::string what, const Difference& change) {
  table.add({std::move(name), std::move(what), human_time(change.before.mean), human_time(change.after.mean),
             change_text(change), interval_text(change), mark(change)});
}

// CPU time estimated from samples. 0 samples do not prove that the function takes no time.
void add_sampled_change(Table& table, std::string name, std::string what, const Difference& change) {
  if (change.before.mean > 0 && change.after.mean > 0)
    return add_change(table, std::move(name), std::move(what), change);
  const auto time = [](const Estimate& e) { return e.mean > 0 ? human_time(e.mean) : "no sample"; };
  table.add({std::move(name), std::move(what), time(change.before), time(change.after), "-",
             interval_text(change), mark(change)});
}

Table empty_table(const char* first, const char* second) {
  return Table({{.title = first, .right = false, .flexible = true, .narrowest = 18},
                {.title = second, .right = false},
                {"before"},
                {"after"},
                {"change"},
                {.title = "95 %, all rows", .importance = 1},
                {.right = false, .style = Style::bold}});
}

// The rate of both runs in the same unit: what their samples are, or batches where that is not known of both
// or batches hold different things.
struct Rates {
  std::optional<double> before, after;
  std::string unit;
};

Rates rates_of(const LoopComparison& loop) {
  const auto before = loop.before.samples_per_s(), after = loop.after.samples_per_s();
  if (before && after)
    return {before, after, loop.before.unit == loop.after.unit ? loop.before.unit : "samples"};
  return {loop.before.batches_per_s(), loop.after.batches_per_s(), "batches"};
}

// Times of a batch are of different things if batches have another size.
std::string about_batches(const LoopComparison& loop) {
  constexpr double kOther = 1.05;
  const double before = loop.before.mean_samples(), after = loop.after.mean_samples();
  if (before <= 0 || after <= 0 || std::max(before, after) < kOther * std::min(before, after)) return {};
  return fmt::format("A batch has {} instead of {} samples: times of a batch are not of the same work. ",
                     human_rate(after), human_rate(before));
}

// Rates and the share waited have no interval of their own: that of a batch's time says it.
std::string about_loop(const LoopComparison& loop) {
  const bool first = loop.before.taken_elsewhere(), second = loop.after.taken_elsewhere();
  if (first || second)
    return fmt::format(
        "How long training waited for data is not known of {}: another thread than training's takes the "
        "batches and hands them on. ",
        first && second ? "both runs"
        : first         ? "the former run"
                        : "the latter run");
  if (!loop.in_both()) return {};
  const Rates rates = rates_of(loop);
  const std::string waited = fmt::format("it waited for data {} of the time instead of {}",
                                         human_percent(loop.after.waited_percent().value_or(0)),
                                         human_percent(loop.before.waited_percent().value_or(0)));
  const std::string doubt = loop.batch.certain ? "" : ", which may be chance";
  if (!rates.before || !rates.after) return fmt::format("Training: {}. ", waited);
  return fmt::format("Training took {} instead of {} {}/s ({}{}); {}. {}", human_rate(*rates.after),
                     human_rate(*rates.before), rates.unit,
                     signed_percent(100 * (*rates.after / *rates.before - 1)), doubt, waited,
                     about_batches(loop));
}

// Other programs on the machine change all times, without a change of this program.
std::string about_cores(const LoopComparison& loop) {
  const auto before = loop.before.core_wait.percent(), after = loop.after.core_wait.percent();
  if (!before || !after || std::max(*before, *after) < kTellsOfCoresPercent) return {};
  if (std::abs(*after - *before) < kTellsOfCoresPercent)
    return fmt::format(
        "Workers waited for a core in both runs, for {} of the time in which they made batches instead of "
        "{}: the machine was busy, which makes times longer and less certain. ",
        human_percent(*after), human_percent(*before));
  return fmt::format(
      "Workers waited for a core for {} of the time in which they made batches instead of {}: the "
      "machine was {} busy, which alone changes times and, by its caches, CPU times. ",
      human_percent(*after), human_percent(*before), *after > *before ? "more" : "less");
}

// What an operation that only one run has costs there.
std::string about_only(const Comparison& c, const OpComparison& op) {
  const bool before = op.calls_before > 0;
  const LoopCost& loop = before ? c.loop.before : c.loop.after;
  const double making = loop.fetch.sum();
  std::string text = fmt::format("{} is only in {}: {} a call, {} in {} calls", escaped(op.name),
                                 escaped(before ? c.before : c.after),
                                 human_time(before ? op.wall.before.mean : op.wall.after.mean),
                                 human_time(op.total()), human_count(op.calls_before + op.calls_after));
  if (making > 0)
    text += fmt::format(", {} of making batches", human_percent(std::min(100.0, 100 * op.total() / making)));
  return text;
}

std::string verdict(const Comparison& c) {
  std::vector<std::string> changed;
  for (const auto& op : c.ops)
    if (op.in_both() && op.wall.certain)
      changed.push_back(fmt::format("{} takes {} instead of {} a call ({})", escaped(op.name),
                                    human_time(op.wall.after.mean), human_time(op.wall.before.mean),
                                    change_text(op.wall)) +
                        ((c.sampled || op.by_clock) && !op.cpu.certain
                             ? ", though its CPU time did not change beyond chance"
                             : ""));
  for (const auto& op : c.ops)
    if (!op.in_both()) changed.push_back(about_only(c, op));
  if (changed.empty()) return "No operation's time changed beyond what is chance.";
  return fmt::format("Changed beyond chance: {}.", fmt::join(changed, "; "));
}

std::string loop_table(const Comparison& c, const Terminal& terminal) {
  if (!c.loop.in_both()) return {};
  Table table = empty_table("training", "a batch");
  add_change(table, "the loop", "time", c.loop.batch);
  add_change(table, "  waiting for it", "time", c.loop.wait);
  add_change(table, "  training on it", "time", c.loop.step);
  add_change(table, "making it, in a worker", "time", c.loop.fetch);
  return table.text(terminal) + "\n";
}

std::string ops_table(const Comparison& c, const Terminal& terminal) {
  Table table = empty_table("operation", "a call");
  for (const auto& op : c.ops) {
    if (!op.in_both()) continue;
    add_change(table, escaped(op.name), "time", op.wall);
    if (op.by_clock)
      add_change(table, "", "CPU", op.cpu);
    else if (c.sampled)
      add_sampled_change(table, "", "CPU, by samples", op.cpu);
  }
  return table.empty() ? "" : table.text(terminal);
}

std::string functions_table(const Comparison& c, const Terminal& terminal) {
  Table table = empty_table("function", "operation");
  std::size_t others = 0;
  for (const auto& op : c.ops)
    for (const auto& function : op.functions) {
      if (function.cpu.certain)
        add_change(table, escaped(readable_function(function.frame.name)), escaped(op.name), function.cpu);
      else
        ++others;
    }
  if (table.empty()) return "No native function's CPU time changed beyond what is chance.\n";
  if (others == 0) return table.text(terminal);
  return table.text(terminal) +
         wrapped(
             fmt::format("Functions whose change may be chance: {} more, in --json.", human_count(others)),
             terminal.width) +
         "\n";
}

Json loop_json(const LoopComparison& loop) {
  if (!loop.in_both()) return nullptr;
  const LoopCost &a = loop.before, &b = loop.after;
  return {
      {"unit", {a.unit, b.unit}},
      {"batches_per_s", {number_or_null(a.batches_per_s()), number_or_null(b.batches_per_s())}},
      {"images_per_s", {number_or_null(a.samples_per_s()), number_or_null(b.samples_per_s())}},
      {"waited_percent", {number_or_null(a.waited_percent()), number_or_null(b.waited_percent())}},
      {"core_wait_percent", {number_or_null(a.core_wait.percent()), number_or_null(b.core_wait.percent())}},
      {"batch", change_json(loop.batch)},
      {"wait", change_json(loop.wait)},
      {"step", change_json(loop.step)},
      {"fetch", change_json(loop.fetch)}};
}

}  // namespace

Json comparison_json(const Comparison& c) {
  Json ops = Json::array();
  for (const auto& op : c.ops) {
    Json row{{"name", escaped(op.name)}, {"calls", {op.calls_before, op.calls_after}}};
    if (op.in_both()) {
      row["time_per_call"] = change_json(op.wall);
      row["cpu_per_call"] = c.sampled || op.by_clock ? change_json(op.cpu) : Json(nullptr);
      row["cpu_by_clock"] = op.by_clock;
      Json functions = Json::array();
      for (const auto& function : op.functions) {
        Json entry{{"function", escaped(function.frame.name)}, {"library", escaped(function.frame.library)}};
        entry.update(change_json(function.cpu));
        functions.push_back(std::move(entry));
      }
      row["functions"] = std::move(functions);
      row["counters"] = counter_changes_json(c.counters, op.name);
    } else {
      row["only"] = {{"mean_ns", op.calls_before > 0 ? op.wall.before.mean : op.wall.after.mean},
                     {"total_s", op.total() / 1e9}};
    }
    ops.push_back(std::move(row));
  }
  return {{"before", escaped(c.before)},
          {"after", escaped(c.after)},
          {"confidence", 0.95},
          {"quantities", c.quantities},
          {"training", loop_json(c.loop)},
          {"ops", std::move(ops)},
          {"unnamed_libraries", c.unnamed_libraries},
          {"unnamed_ops", c.unnamed_ops},
          {"counters", counter_comparison_json(c.counters)}};
}

std::string comparison_text(const Comparison& c, const Terminal& terminal) {
  std::string out =
      terminal.styled(Style::bold,
                      wrapped(about_loop(c.loop) + about_cores(c.loop) + verdict(c), terminal.width)) +
      "\n";
  const std::string facts = fmt::format(
      "{} against {}: {} quantities; the intervals hold all of them together with 95 % probability, as far "
      "as chance goes: not a busier or a warmer machine.",
      escaped(c.after), escaped(c.before), c.quantities);
  out += terminal.styled(Style::dim, wrapped(facts, terminal.width)) + "\n\n" + loop_table(c, terminal) +
         ops_table(c, terminal) + counter_changes_text(c.counters, terminal);
  if (!c.unfinished.empty())
    return out + "\n" +
           wrapped(
               fmt::format("Functions are not compared: {} is not complete, their names stand at its end.",
                           escaped(c.unfinished)),
               terminal.width) +
           "\n";
  if (c.unnamed_ops > 0)
    out += wrapped(fmt::format("Operations whose names are lost are not compared: {}.", c.unnamed_ops),
                   terminal.width) +
           "\n";
  if (!c.unnamed_libraries.empty())
    out += "\n" +
           wrapped(fmt::format("Functions of {} are not compared: some have no name in one of the runs.",
                               escaped(fmt::format("{}", fmt::join(c.unnamed_libraries, ", ")))),
                   terminal.width) +
           "\n";
  if (!c.sampled) return out + "\nWithout samples of stacks in both traces, functions cannot be compared.\n";
  return out + "\n" + functions_table(c, terminal);
}

}  // namespace lotus::analyzer
