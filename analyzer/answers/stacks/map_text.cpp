#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "answers/stacks/map_views.hpp"
#include "text/escape.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

std::string percent(double share) { return human_percent(100 * share); }

std::string interval_text(const Bounds& interval) {
  return fmt::format("{:.1f}–{:.1f} %", 100 * interval.low, 100 * interval.high);
}

// The name of a library without CPython's tag of extension modules: _imaging.so for
// _imaging.cpython-311-x86_64-linux-gnu.so.
std::string short_library(const std::string& library) {
  const auto from = library.find(".cpython-");
  const auto to = library.rfind(".so");
  if (from == std::string::npos || to == std::string::npos || to < from) return escaped(library);
  return escaped(library.substr(0, from) + library.substr(to));
}

std::string samples(std::uint64_t count) {
  return fmt::format("{} sample{}", human_count(count), count == 1 ? "" : "s");
}

// `counted`: with the counts of hooks on the functions.
Table empty_table(bool counted) {
  std::vector<Column> columns{{.title = "function", .right = false, .flexible = true, .narrowest = 24},
                              {.title = "library", .right = false},
                              {.title = "share"},
                              {.title = "95 % interval"},
                              {.title = "samples", .importance = 3},
                              {.title = "self", .importance = 1},
                              {.title = "total", .importance = 4}};
  if (counted) {
    columns.push_back({.title = "calls", .importance = 5});
    columns.push_back({.title = "timed", .importance = 2});
  }
  return Table(std::move(columns));
}

void add_row(Table& table, std::vector<std::string> cells, bool counted, const EntryPoint* exact = nullptr) {
  if (counted) {
    cells.push_back(exact != nullptr ? human_count(exact->calls) : "");
    cells.push_back(exact != nullptr ? human_time(exact->ns) : "");
  }
  table.add(std::move(cells));
}

void add_function(Table& table, const FunctionShare& f, bool counted) {
  add_row(table,
          {escaped(function_text(f.frame.name, f.under, f.frame.by_code())), short_library(f.frame.library),
           percent(f.share), interval_text(f.interval), human_count(f.self.samples),
           human_time(f.self.cpu_ns), human_time(f.total.cpu_ns)},
          counted, f.exact ? &*f.exact : nullptr);
}

void add_rest(Table& table, const std::string& name, const Tally& tally, const OpMap& op, bool counted) {
  if (tally.samples == 0) return;
  const double share = op.all.cpu_ns > 0 ? tally.cpu_ns / op.all.cpu_ns : 0;
  add_row(table,
          {name, "", percent(share), interval_text(exact_interval(share, op.all.effective())),
           human_count(tally.samples), human_time(tally.cpu_ns), ""},
          counted);
}

std::string functions_text(const OpMap& op, const Terminal& terminal) {
  const bool counted = std::any_of(op.functions.begin(), op.functions.end(),
                                   [](const FunctionShare& f) { return f.listed && f.exact; });
  Table table = empty_table(counted);
  Tally rest;
  std::uint64_t unlisted = 0;
  for (const auto& function : op.functions) {
    if (function.listed) {
      add_function(table, function, counted);
    } else if (function.self.samples > 0) {
      ++unlisted;
      rest.add(function.self);
    }
  }
  add_rest(table, "(Python and its interpreter)", op.interpreter, op, counted);
  add_rest(table, fmt::format("({} too rare to list)", unlisted), rest, op, counted);
  add_rest(table, "(stacks without names)", op.unnamed, op, counted);
  return table.empty() ? std::string() : table.text(terminal);
}

// Entry points that were counted, longest first; ~ marks counts from some batches only.
std::string entry_points_text(const OpMap& op, const Terminal& terminal) {
  if (op.entry_points.empty()) return {};
  Table table({{.title = "counted", .right = false, .flexible = true, .narrowest = 24},
               {.title = "library", .right = false},
               {"calls"},
               {"time"},
               {"per call"},
               {.title = "bytes", .importance = 1}});
  std::vector<std::pair<std::pair<std::string, std::string>, EntryPoint>> points(op.entry_points.begin(),
                                                                                 op.entry_points.end());
  std::stable_sort(points.begin(), points.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  for (const auto& [name, point] : points)
    table.add({escaped(name.first), short_library(name.second),
               (point.estimated ? "~" : "") + human_count(point.calls), human_time(point.ns),
               point.calls == 0 ? "-" : human_time(point.ns / static_cast<double>(point.calls)),
               point.bytes > 0 ? human_bytes(point.bytes) : ""});
  return table.text(terminal);
}

std::string reach_of(const OpMap& op, const FunctionMap& map) {
  const auto runs = op.runs_for_one_percent();
  if (!runs) return "never sampled: run longer, or at a higher LOTUS_SAMPLE_HZ";
  std::string seen =
      fmt::format("a function of {} or more was sampled with 95 % probability", percent(op.smallest()));
  if (*runs <= 1) return seen;
  if (map.duration_ns <= 0) return fmt::format("{}; for 1 % run {:.1f} times as long", seen, *runs);
  return fmt::format("{}; for 1 % run {:.1f} times as long ({} more)", seen, *runs,
                     human_time((*runs - 1) * map.duration_ns));
}

std::string op_text(const OpMap& op, const FunctionMap& map, const Terminal& terminal) {
  std::string facts = fmt::format("  {}, {} of CPU", samples(op.all.samples), human_time(op.all.cpu_ns));
  if (op.tracer.samples > 0)
    facts += fmt::format(", and {} the tracer's own",
                         percent(op.tracer.cpu_ns / (op.tracer.cpu_ns + op.all.cpu_ns)));
  if (op.cut > 0) facts += fmt::format("; {} cut off", samples(op.cut));
  const std::string name = escaped(op.op.name);
  const std::string first = wrapped(name + facts, terminal.width, 2);
  const bool whole = first.starts_with(name);  // a very long name is broken itself
  std::string out =
      "\n" +
      (whole ? terminal.styled(Style::bold, name) + terminal.styled(Style::dim, first.substr(name.size()))
             : first) +
      "\n";
  out += "  " + wrapped(reach_of(op, map), terminal.width - 2, 2) + "\n";
  return out + functions_text(op, terminal) + entry_points_text(op, terminal);
}

// The text without samples: counts of hooks only.
std::string counted_text(const FunctionMap& map, const Terminal& terminal) {
  std::string out;
  for (const auto& op : map.ops)
    if (!op.entry_points.empty())
      out +=
          "\n" + terminal.styled(Style::bold, escaped(op.op.name)) + "\n" + entry_points_text(op, terminal);
  return out;
}

std::string legend_of(const FunctionMap& map) {
  std::string text =
      "Share, self and total: CPU time, from samples; where the kernel let some pass, the next stands for "
      "them.";
  const bool timed =
      std::any_of(map.ops.begin(), map.ops.end(), [](const OpMap& op) { return !op.entry_points.empty(); });
  if (timed)
    text +=
        " Timed and time: by the clock, waiting included; with a ~, measured in a part of the batches and "
        "taken for all.";
  const bool cut = std::any_of(map.ops.begin(), map.ops.end(), [](const OpMap& op) { return op.cut > 0; });
  if (cut)
    text +=
        " Cut off: the stack is not known up to the operation, as behind a function without unwind tables; "
        "the sample counts for its innermost function all the same, but not in the total of those that are "
        "missing.";
  return text;
}

std::string head_text(const FunctionMap& map, const Terminal& terminal) {
  std::string files = escaped(map.files.front());
  if (map.files.size() > 1) files += fmt::format(" and {} more", map.files.size() - 1);
  std::string facts = fmt::format("{}: {} of CPU time", files, samples(map.sampling.samples));
  if (map.sampling.known) facts += fmt::format(" at {} Hz a thread", map.sampling.hz);
  facts += fmt::format(", {} lost; {} inside of operations, of these the tracer's own {}",
                       human_count(map.sampling.lost), human_count(map.inside.samples),
                       percent(map.inside.cpu_ns > 0 ? map.tracer.cpu_ns / map.inside.cpu_ns : 0));
  if (map.sampling.without_end > 0)
    facts +=
        fmt::format("; {} fell into calls whose end is not in the file", samples(map.sampling.without_end));
  const std::string rule = fmt::format(
      "Listed: native functions in which at least {} samples ended and whose share of the operation's CPU "
      "time is above {} with 97.5 % confidence (lower end of Clopper and Pearson's 95 % interval).",
      map.rule.min_samples, percent(map.rule.min_share));
  std::string out;
  for (const std::string& text : {facts, rule, legend_of(map)})
    out += terminal.styled(Style::dim, wrapped(text, terminal.width)) + "\n";
  return out;
}

}  // namespace

std::string why_no_samples(const SamplingFacts& facts) {
  if (facts.samples > 0) return {};
  if (facts.lost > 0) return "All samples of the stack were lost: the collector did not keep up.";
  if (!facts.known)
    return "The trace holds no samples of the stack: the program was recorded without sampling.";
  if (facts.hz == 0) return "The trace holds no samples of the stack: sampling was off (LOTUS_SAMPLE_HZ=0).";
  if (facts.refused)
    return fmt::format("The trace holds no samples of the stack: no timers could be made: {}.",
                       facts.refused->why());
  if (facts.cut)
    return "The trace holds no samples of the stack: its file is cut off, or not complete yet, and ends "
           "before the first.";
  return fmt::format(
      "The trace holds no samples of the stack: at {} Hz, nothing used the CPU for long enough. Run longer, "
      "or at a higher LOTUS_SAMPLE_HZ.",
      facts.hz);
}

std::string map_text(const FunctionMap& map, const Terminal& terminal) {
  const std::string nothing = why_no_samples(map.sampling);
  if (!nothing.empty()) return wrapped(nothing, terminal.width) + "\n" + counted_text(map, terminal);
  std::string out = head_text(map, terminal);
  for (const auto& op : map.ops) out += op_text(op, map, terminal);
  if (map.outside.samples > 0)
    out += "\n" +
           terminal.styled(
               Style::dim,
               wrapped(fmt::format("Outside of operations: {}, {} of CPU; where: lotus-analyze "
                                   "flame --op '{}'",
                                   samples(map.outside.samples), human_time(map.outside.cpu_ns), kOutsideOps),
                       terminal.width)) +
           "\n";
  return out;
}

}  // namespace lotus::analyzer
