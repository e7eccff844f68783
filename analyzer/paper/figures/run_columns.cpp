#include "paper/figures/run_columns.hpp"

namespace lotus::analyzer {

std::vector<DataColumn> run_columns(const std::vector<DataColumn>& own) {
  std::vector<DataColumn> all = {{"configuration", "run"},
                                 {"batch_size", "batch size", Unit::count},
                                 {"workers", "workers", Unit::count}};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

std::vector<DataTable::Cell> run_cells(const RunData& run, const std::vector<DataTable::Cell>& own) {
  const RunConfiguration& c = run.configuration;
  const DataTable::Cell size = c.batch_size > 0 ? DataTable::Cell(c.batch_size) : DataTable::Cell(nullptr);
  std::vector<DataTable::Cell> all = {c.label, size, c.workers};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace lotus::analyzer
