#include "paper/figures/plan_figures.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "answers/plan/account.hpp"
#include "paper/figures/drawings.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

namespace fs = std::filesystem;
using memory_plan::Answer;
using memory_plan::Run;

// What all rows begin with, and how they end: that they are a model.
std::vector<DataTable::Cell> row_of(const Answer& answer, const Run& run, std::vector<DataTable::Cell> own) {
  const std::string label =
      run.limit.ratio.empty() ? human_bytes(static_cast<double>(run.limit.bytes)) : run.limit.ratio;
  std::vector<DataTable::Cell> cells{label, run.limit.bytes, memory_plan::name_of(run.mode)};
  cells.insert(cells.end(), own.begin(), own.end());
  cells.emplace_back(memory_plan::model_note(answer.planned.rules));
  return cells;
}

std::vector<DataColumn> columns_with(std::vector<DataColumn> own) {
  std::vector<DataColumn> columns{{"label", "fast memory", Unit::text},
                                  {"fast_limit_bytes", "bytes", Unit::count},
                                  {"mode", "plan", Unit::text}};
  columns.insert(columns.end(), own.begin(), own.end());
  columns.push_back({"note", nullptr, Unit::text});
  return columns;
}

DataTable::Cell share(double part, double whole) {
  return whole > 0 ? DataTable::Cell(part / whole) : DataTable::Cell(nullptr);
}

DataTable speedup_figure(const Answer& answer) {
  DataTable table{columns_with({{"speedup", "over all slow", Unit::number},
                                {"all_fast_speedup", "all fast", Unit::number}}),
                  {}};
  const auto& planned = answer.planned;
  for (const Run& run : planned.runs)
    table.add(row_of(answer, run,
                     {share(planned.all_slow_seconds, run.outcome.seconds),
                      share(planned.all_slow_seconds, planned.all_fast_seconds)}));
  return table;
}

DataTable cost_figure(const Answer& answer) {
  DataTable table{columns_with({{"performance", "of all fast", Unit::number},
                                {"memory_cost", "cost of memory", Unit::number},
                                {"cost_ratio", "cost of fast memory", Unit::number}}),
                  {}};
  const auto& planned = answer.planned;
  for (const Run& run : planned.runs)
    table.add(row_of(
        answer, run,
        {share(planned.all_fast_seconds, run.outcome.seconds),
         memory_plan::memory_cost(run.limit.bytes, planned.peak, answer.cost_ratio), answer.cost_ratio}));
  return table;
}

DataTable limit_figure(const Answer& answer) {
  DataTable table{columns_with({{"slowdown", "of all fast", Unit::number},
                                {"fast_input_share", "inputs in fast memory", Unit::number},
                                {"fast_output_share", "outputs in fast memory", Unit::number},
                                {"bytes_moved_to_slow", "to slow", Unit::count},
                                {"bytes_moved_to_fast", "to fast", Unit::count}}),
                  {}};
  const auto& planned = answer.planned;
  for (const Run& run : planned.runs) {
    const auto account = memory_plan::account_of(planned, run);
    table.add(row_of(
        answer, run,
        {share(run.outcome.seconds, planned.all_fast_seconds),
         share(static_cast<double>(account.inputs.fast_bytes), static_cast<double>(account.inputs.bytes)),
         share(static_cast<double>(account.outputs.fast_bytes), static_cast<double>(account.outputs.bytes)),
         account.bytes_to_slow, account.bytes_to_fast}));
  }
  return table;
}

constexpr PlanFigure kPlanFigures[] = {
    {"plan7", "speedup", "Speed-up over all in slow memory", speedup_figure},
    {"plan9", "cost", "Time and cost of memory against all in fast memory", cost_figure},
    {"plan10", "limit", "Time, operands in fast memory and traffic by size of fast memory", limit_figure},
};

DataTable executed_figure(const std::vector<memory_plan::Executed>& all) {
  DataTable table{{{"label", "trace", Unit::text},
                   {"base_s", "without a plan", Unit::number},
                   {"predicted_s", "predicted", Unit::number},
                   {"actual_s", "took", Unit::number},
                   {"error_percent", "error", Unit::number},
                   {"base_peak_bytes", "peak without", Unit::count},
                   {"predicted_peak_bytes", "predicted peak", Unit::count},
                   {"peak_bytes", "peak", Unit::count},
                   {"note", nullptr, Unit::text}},
                  {}};
  for (const memory_plan::Executed& one : all)
    table.add({fs::path(one.trace).stem().string(), one.base_s, one.predicted_s(), one.actual_s,
               one.error_percent(), one.base_peak, one.predicted_peak(), one.actual_peak,
               memory_plan::executed_note()});
  return table;
}

}  // namespace

std::span<const PlanFigure> plan_figures() { return kPlanFigures; }

std::string draw_plan_figures(const Answer& answer, const std::string& directory, bool replace) {
  std::vector<Drawing> drawings;
  for (const PlanFigure& figure : kPlanFigures)
    drawings.push_back(
        {figure.number, fmt::format("memory-plan-{}", figure.name), figure.title, figure.make(answer)});
  return draw_into(directory, drawings, replace);
}

std::string draw_executed_figure(const std::vector<memory_plan::Executed>& all, const std::string& directory,
                                 bool replace) {
  return draw_into(directory,
                   {{"plan11", "memory-plan-error", "Error of predicted times of plans that were carried out",
                     executed_figure(all)}},
                   replace);
}

}  // namespace lotus::analyzer
