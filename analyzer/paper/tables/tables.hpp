// The research system's tables, from traces.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "paper/tables/data_table.hpp"
#include "paper/tables/run_data.hpp"

namespace lotus::analyzer {

struct TableKind {
  const char* name;
  const char* number;  // in the paper; nullptr: it has none
  const char* title;
  DataTable (*make)(const std::vector<RunData>& runs);
};

std::span<const TableKind> table_kinds();
// By name or number (II or 2); nullptr: there is none.
const TableKind* find_table(std::string_view name);

// I: the functions of each operation.
DataTable mapping_table(const std::vector<RunData>& runs);
// II: how long operations take.
DataTable ops_table(const std::vector<RunData>& runs);
// IV: what each profiler sees; our row is what these traces show.
DataTable functions_table(const std::vector<RunData>& runs);
// Counters of functions, split over operations.
DataTable counters_table(const std::vector<RunData>& runs);
// How long batches take to be made, before and after dropping the partial ones.
DataTable batches_table(const std::vector<RunData>& runs);
// Waits, delays and their shares.
DataTable waits_table(const std::vector<RunData>& runs);

}  // namespace lotus::analyzer
