// Figures 4, 5a, 5b and 6a: batches and epochs by configuration.
#include <algorithm>

#include "paper/figures/figures.hpp"
#include "paper/figures/run_columns.hpp"
#include "text/error.hpp"

namespace lotus::analyzer {
namespace {

std::vector<DataColumn> columns(const std::vector<DataColumn>& own) {
  std::vector<DataColumn> all = {{"ranks", "ranks", Unit::count}, {"epoch", "epoch", Unit::count}};
  all.insert(all.end(), own.begin(), own.end());
  return run_columns(all);
}

std::vector<DataTable::Cell> cells(const RunData& run, std::uint64_t epoch,
                                   const std::vector<DataTable::Cell>& own) {
  std::vector<DataTable::Cell> all = {run.configuration.ranks, epoch};
  all.insert(all.end(), own.begin(), own.end());
  return run_cells(run, all);
}

DataTable checked(DataTable table, const char* what) {
  if (table.rows.empty()) throw Unusable(std::string("the traces hold no ") + what);
  return table;
}

using Value = std::optional<std::int64_t> RunBatch::*;

DataTable per_batch(const std::vector<RunData>& runs, const char* name, Value value, const char* what) {
  DataTable table{
      columns({{"batch", "batch", Unit::count}, {name, name, Unit::ms}, {"out_of_order", "out of order"}}),
      {}};
  for (const auto& run : runs)
    for (const auto& batch : run.batches)
      if (batch.*value)
        table.add(cells(run, batch.epoch,
                        {batch.batch, static_cast<double>(*(batch.*value)) / 1e6, batch.out_of_order}));
  return checked(std::move(table), what);
}

}  // namespace

DataTable preprocessing_figure(const std::vector<RunData>& runs, const FigureOptions&) {
  DataTable table{columns({{"batch", "batch", Unit::count},
                           {"preprocess_ms", "preprocessing", Unit::ms},
                           {"dropped", "dropped"}}),
                  {}};
  for (const auto& run : runs) {
    Series all;
    for (const auto& batch : run.batches)
      if (batch.fetch_ns) all.add(*batch.fetch_ns);
    const double lowest = all.summary().trimming_limit();
    for (const auto& batch : run.batches) {
      if (!batch.fetch_ns) continue;
      const auto ns = static_cast<double>(*batch.fetch_ns);
      table.add(cells(run, batch.epoch, {batch.batch, ns / 1e6, ns < lowest}));
    }
  }
  return checked(std::move(table), "batch that was made");
}

DataTable wait_figure(const std::vector<RunData>& runs, const FigureOptions&) {
  return per_batch(runs, "wait_ms", &RunBatch::wait_ns, "wait for a batch");
}

DataTable delay_figure(const std::vector<RunData>& runs, const FigureOptions&) {
  return per_batch(runs, "delay_ms", &RunBatch::delay_ns, "batch that was made and consumed");
}

DataTable epoch_figure(const std::vector<RunData>& runs, const FigureOptions&) {
  DataTable table{columns({{"seconds", "time", Unit::seconds}}), {}};
  for (const auto& run : runs)
    for (const auto& epoch : run.epochs) table.add(cells(run, epoch.epoch, {epoch.seconds}));
  return checked(std::move(table), "epoch");
}

}  // namespace lotus::analyzer
