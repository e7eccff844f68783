#include <fmt/format.h>

#include <algorithm>

#include "answers/report/cells.hpp"
#include "answers/report/sections.hpp"
#include "answers/stacks/library_code.hpp"
#include "text/escape.hpp"
#include "text/table.hpp"
#include "text/units.hpp"
#include "text/utf8.hpp"

namespace lotus::analyzer {
namespace {

// The name, that of a library's function with its module: `open` of PIL.Image and of tarfile are told apart.
std::string own_name(const Op& op) {
  const std::string end = "." + op.name;
  const bool named = op.name.find_first_of(".<(") == op.name.npos && op.qualified.ends_with(end);
  const bool is_class =
      !op.name.empty() && op.name[0] >= 'A' && op.name[0] <= 'Z';  // as nearly all are named
  if (op.role != OpRole::frame || !is_library_code(op.file) || !named || is_class) return escaped(op.name);
  const std::string module = op.qualified.substr(0, op.qualified.size() - end.size());
  return escaped(module.substr(module.rfind('.') + 1) + end);
}

// The name; callables of the same name get a part that distinguishes them.
std::string label_of(const OpFinding& op, const Findings& findings) {
  const auto same_name = [&](const OpFinding& other) { return other.op.name == op.op.name; };
  const auto same_both = [&](const OpFinding& other) {
    return same_name(other) && other.op.qualified == op.op.qualified;
  };
  std::string name = own_name(op.op);
  if (std::count_if(findings.ops.begin(), findings.ops.end(), same_name) < 2) return name;
  if (std::count_if(findings.ops.begin(), findings.ops.end(), same_both) < 2)
    return fmt::format("{} ({})", name, escaped(op.op.qualified));
  const std::size_t slash = op.op.file.rfind('/');
  return fmt::format("{} ({}:{})", name, escaped(op.op.file.substr(slash + 1)), op.op.line);
}

Table empty_table() {
  return Table({{.title = "operation", .right = false, .flexible = true, .narrowest = 22},
                {"calls"},
                {"mean"},
                {.title = "std", .importance = 6},
                {.title = "median", .importance = 3},
                {.title = "p90", .importance = 1},
                {.title = "p99", .importance = 4},
                {.title = "max", .importance = 5},
                {.title = "<100µs", .importance = 8},
                {.title = "<10ms", .importance = 7},
                {.title = "raised", .importance = 9},
                {.title = "CPU", .importance = 4},
                {"total"},
                {"share"},
                {.right = false, .importance = 2, .style = Style::cyan}});
}

void add_op(Table& table, const OpFinding& op, const Findings& f) {
  const Summary s = op.wall.summary();
  const auto count = static_cast<double>(s.count);
  const auto cpu = cpu_of(op, f);
  const auto share = f.making_time > 0 ? std::optional(share_percent(op, f)) : std::nullopt;
  table.add({label_of(op, f), human_count(s.count), human_time(s.mean), human_time(s.std), human_time(s.p50),
             human_time(s.p90), human_time(s.p99), human_time(s.max),
             percent_or_dash(percent_of(static_cast<double>(op.under_100us), count)),
             percent_or_dash(percent_of(static_cast<double>(op.under_10ms), count)), human_count(op.errors),
             cpu ? human_time(*cpu * 1e9) : "-", human_time(op.wall.sum()), percent_or_dash(share),
             bar_of(share)});
}

// Python functions below a sample that took less of the preprocessing are clutter.
constexpr double kClutterPercent = 0.1;
constexpr std::size_t kFewestFolded = 2;

bool is_clutter(const OpFinding& op, const Findings& f) {
  return op.op.role == OpRole::frame && f.making_time > 0 && share_percent(op, f) < kClutterPercent;
}

// Of operations that are much shorter without the tracer.
std::string tracing_text(const Findings& f, const Terminal& terminal) {
  std::string text;
  for (const auto& op : f.ops) {
    if (op.tracing_percent() < kTellsOfTracingPercent || is_clutter(op, f)) continue;
    const std::string line =
        fmt::format("{}: {} of its time is tracing, of {} Python calls", label_of(op, f),
                    human_percent(op.tracing_percent()), human_count(op.python_calls.count));
    text += terminal.styled(Style::yellow, wrapped(line, terminal.width)) + "\n";
  }
  return text;
}

}  // namespace

std::string ops_text(const Findings& f, const Terminal& terminal, bool all) {
  if (f.ops.empty()) return {};
  Table table = empty_table();
  const auto clutter = [&](const OpFinding& op) { return is_clutter(op, f); };
  const auto few = static_cast<std::size_t>(std::count_if(f.ops.begin(), f.ops.end(), clutter));
  const bool folds = !all && few >= kFewestFolded;
  for (const auto& op : f.ops)
    if (!folds || !clutter(op)) add_op(table, op, f);
  const auto outside = percent_of(f.outside_ops, f.making_time);
  const double cpu =
      cpu_outside_ops(f).value_or(0);  // 0 also if it is below the error of the other estimates
  if (outside)
    table.add({"(outside ops)", "", "", "", "", "", "", "", "", "", "", cpu > 0 ? human_time(cpu * 1e9) : "",
               human_time(f.outside_ops), human_percent(*outside), bar_of(outside)});
  const std::string rest =
      folds ? fmt::format("  and {} more below {} %, in report --all\n", few, kClutterPercent) : "";
  return table.text(terminal) + rest + tracing_text(f, terminal);
}

}  // namespace lotus::analyzer
