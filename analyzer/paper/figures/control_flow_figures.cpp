#include "paper/figures/control_flow_figures.hpp"

#include <fmt/format.h>

#include <utility>

#include "paper/figures/drawings.hpp"
#include "paper/tables/data_table.hpp"

namespace lotus::analyzer {
namespace {

using controlflow::ConstructAnswer;
using controlflow::ConstructKind;
using controlflow::Parts;
using controlflow::RegionAnswer;
using Answers = std::vector<RegionAnswer>;

constexpr double kMs = 1e6;  // ns

std::vector<DataColumn> parts_columns() {
  return {{"label", "of", Unit::text},
          {"native_ms", "operators", Unit::number},
          {"control_ms", "only for tests", Unit::number},
          {"python_ms", "Python", Unit::number}};
}

void add_parts(DataTable& table, const std::string& label, const Parts& parts, double calls) {
  table.add({label, parts.native / calls / kMs, parts.control / calls / kMs, parts.python / calls / kMs});
}

DataTable flow_share_figure(const Answers& answers, const RegionAnswer*) {
  DataTable table{parts_columns(), {}};
  for (const RegionAnswer& answer : answers) add_parts(table, answer.name, answer.parts, 1);
  return table;
}

std::string construct_label(const ConstructAnswer& construct) {
  return fmt::format("{} {}", construct.source.function, memory::source_text(construct.source));
}

template <ConstructKind kKind>
DataTable construct_figure(const Answers& answers, const RegionAnswer*) {
  DataTable table{parts_columns(), {}};
  for (const RegionAnswer& answer : answers)
    for (const ConstructAnswer& construct : answer.constructs) {
      if (construct.kind != kKind) continue;
      const auto calls = static_cast<double>(answer.used);
      if (kKind != ConstructKind::branch) {
        add_parts(table, construct_label(construct), construct.sums.within, calls);
      } else if (construct.sums.joins) {
        add_parts(table, construct_label(construct) + ": test", construct.sums.test, calls);
        add_parts(table, construct_label(construct) + ": taken", construct.sums.taken_time, calls);
        add_parts(table, construct_label(construct) + ": else", construct.sums.not_taken_time, calls);
      }
    }
  return table;
}

// Of each trace, how much of its data-dependent branch that costs most was executed.
DataTable sweep_figure(const Answers& answers, const RegionAnswer* against) {
  DataTable table{{{"executed_percent", "executed", Unit::number},
                   {"ms", "a call", Unit::number},
                   {"operators_ms", "operators", Unit::number},
                   {"no_skip_ms", "without branches", Unit::number}},
                  {}};
  for (const RegionAnswer& answer : answers)
    for (const ConstructAnswer& construct : answer.constructs) {
      const auto known = static_cast<double>(construct.sums.taken + construct.sums.not_taken);
      if (construct.kind != ConstructKind::branch || !construct.sums.data_dependent || !construct.sums.joins)
        continue;
      table.add(
          {100 * static_cast<double>(construct.sums.taken) / known, answer.parts.untraced() / kMs,
           answer.parts.native / kMs,
           against != nullptr ? DataTable::Cell(against->parts.untraced() / kMs) : DataTable::Cell(nullptr)});
      break;
    }
  if (table.rows.size() < 2) table.rows.clear();
  return table;
}

DataTable ladder_figure(const Answers& answers, const RegionAnswer*) {
  DataTable table{{{"label", "of", Unit::text}, {"rung", "rung", Unit::text}, {"ms", "a call", Unit::number}},
                  {}};
  for (const RegionAnswer& answer : answers) {
    const controlflow::Ladder ladder = answer.ladder();
    const auto rung = [&](const char* name, double ns) { table.add({answer.name, name, ns / kMs}); };
    rung("as it is", ladder.as_is);
    rung("without tests", ladder.without_control);
    rung("straight Python", ladder.straight_line);
    rung("compiled", ladder.compiled_high);
    rung("operators alone", ladder.operators);
  }
  return table;
}

struct FlowFigure {
  const char* number;
  const char* name;
  const char* title;
  DataTable (*make)(const Answers& answers, const RegionAnswer* against);
};
constexpr FlowFigure kFlowFigures[] = {
    {"flow2", "2", "What a call's time is", flow_share_figure},
    {"flow15", "15", "Loops: time of a call inside of each", construct_figure<ConstructKind::loop>},
    {"flow15", "16", "Branches: time of a call", construct_figure<ConstructKind::branch>},
    {"flow17", "17", "Time of a call by executed share", sweep_figure},
    {"flow15", "18", "Recursions: time of a call inside of each", construct_figure<ConstructKind::recursion>},
    {"flow19", "19", "What would be left of a call, predicted", ladder_figure},
};

}  // namespace

std::string draw_control_flow_figures(const Answers& answers, const RegionAnswer* against,
                                      const std::string& directory, bool replace) {
  std::vector<Drawing> drawings;
  for (const FlowFigure& figure : kFlowFigures) {
    DataTable table = figure.make(answers, against);
    if (table.rows.empty()) continue;
    drawings.push_back(
        {figure.number, fmt::format("control-flow-{}", figure.name), figure.title, std::move(table)});
  }
  return draw_into(directory, drawings, replace);
}

}  // namespace lotus::analyzer
