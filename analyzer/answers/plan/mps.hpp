// The integer program of a problem as a file in MPS format, which every solver reads, and solutions as
// places.
//
// For each storage a flow of 1 through its segments and states (AutoTM's gadgets): edges X…, with the seconds
// of moves and of operators as costs. Y… are the integers, 1 where a segment is in fast memory; with these
// whole, flows are whole, too. A row of at most the limit for each moment at which the limit may be passed.
// Memory is counted in pages of 4 KiB, time in µs; BASE is the time with all in fast memory.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "answers/plan/placement.hpp"

namespace lotus::analyzer::memory_plan {

inline constexpr double kUsPerS = 1e6;

// `about`: a line of comment. Fixed columns: CBC misreads others.
std::string mps_text(const Problem& problem, std::int64_t limit_pages, const std::string& about);

// By the values of the columns Y…; nullopt: one is no 0 and no 1. Columns that are not there are 0.
std::optional<Placement> placement_of(const Problem& problem, const std::map<std::string, double>& columns);

}  // namespace lotus::analyzer::memory_plan
