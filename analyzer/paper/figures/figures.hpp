// The data of the research system's figures. Drawing is not done here: see draw.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paper/tables/data_table.hpp"
#include "paper/tables/run_data.hpp"

namespace lotus::analyzer {

struct FigureOptions {
  std::optional<std::uint64_t> epoch;  // of the batches in figures 2 and 3
  std::optional<std::uint64_t> from;   // timeline: the first batch
  std::uint64_t batches = 12;          // timeline: how many
  std::vector<std::string> counters;   // of functions: beginnings of their names; empty: those that there are
};

struct FigureKind {
  const char* number;  // in the paper
  const char* name;
  const char* title;
  DataTable (*make)(const std::vector<RunData>& runs, const FigureOptions& options);
};

std::span<const FigureKind> figure_kinds();
// By number or name; nullptr: there is none.
const FigureKind* find_figure(std::string_view name);

// Each throws Unusable if the traces lack the data that it shows.
// 2: what workers and the training process do with the batches of an epoch.
DataTable timeline_figure(const std::vector<RunData>& runs, const FigureOptions& options);
// 3: the batch that lay ready for longest before its turn, and those that it waited for.
DataTable out_of_order_figure(const std::vector<RunData>& runs, const FigureOptions& options);
// 4, 5a, 5b: per batch, by configuration.
DataTable preprocessing_figure(const std::vector<RunData>& runs, const FigureOptions& options);
DataTable wait_figure(const std::vector<RunData>& runs, const FigureOptions& options);
DataTable delay_figure(const std::vector<RunData>& runs, const FigureOptions& options);
// 6a, 6b: by number of workers.
DataTable epoch_figure(const std::vector<RunData>& runs, const FigureOptions& options);
DataTable op_time_figure(const std::vector<RunData>& runs, const FigureOptions& options);
// 6c, 6d: CPU time; 6e to 6h: the first and the second other counter.
DataTable function_time_figure(const std::vector<RunData>& runs, const FigureOptions& options);
DataTable op_cpu_figure(const std::vector<RunData>& runs, const FigureOptions& options);
DataTable first_counter_by_function(const std::vector<RunData>& runs, const FigureOptions& options);
DataTable first_counter_by_op(const std::vector<RunData>& runs, const FigureOptions& options);
DataTable second_counter_by_function(const std::vector<RunData>& runs, const FigureOptions& options);
DataTable second_counter_by_op(const std::vector<RunData>& runs, const FigureOptions& options);

}  // namespace lotus::analyzer
