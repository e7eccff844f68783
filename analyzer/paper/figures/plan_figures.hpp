// AutoTM's figures 7, 9 and 10 of the plans for a step, and 11 of plans that were carried out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "answers/plan/executed.hpp"
#include "answers/plan/views.hpp"
#include "paper/tables/data_table.hpp"

namespace lotus::analyzer {

struct PlanFigure {
  const char* number;  // by which the drawing script knows it
  const char* name;    // of its files: memory-plan-NAME
  const char* title;
  DataTable (*make)(const memory_plan::Answer& answer);
};

// 7: speed-up over all in slow memory; 9: time and cost of memory against all in fast memory; 10: time,
// operands in fast memory, and traffic by size of fast memory.
std::span<const PlanFigure> plan_figures();

// Draws each figure into the directory, as SVG and PNG with the data as CSV beside it. Throws WrongUsage
// where one of the files exists, unless `replace`; Unusable where nothing can be drawn or written. The names
// of the files that were written, with commas.
std::string draw_plan_figures(const memory_plan::Answer& answer, const std::string& directory, bool replace);

// The same of figure 11: the prediction's error.
std::string draw_executed_figure(const std::vector<memory_plan::Executed>& all, const std::string& directory,
                                 bool replace);

}  // namespace lotus::analyzer
