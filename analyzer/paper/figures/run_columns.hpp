// The first columns of figures that compare runs: the configuration of each run.
#pragma once

#include <vector>

#include "paper/tables/data_table.hpp"
#include "paper/tables/run_data.hpp"

namespace lotus::analyzer {

// The columns of a run's configuration, then a figure's own; and a row of them.
std::vector<DataColumn> run_columns(const std::vector<DataColumn>& own);
std::vector<DataTable::Cell> run_cells(const RunData& run, const std::vector<DataTable::Cell>& own);

}  // namespace lotus::analyzer
