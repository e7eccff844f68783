// A profiler's table of counters: one row a native function.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reading/trace/imported.hpp"

namespace lotus::analyzer {

// Reads a table with a heading, separated by commas, tabs or semicolons, as VTune and uProf export it.
// Columns by their heading: one that speaks of functions or symbols and holds names, of several ("Source
// Function / Function / Call Stack", "Function (Full)") the one with most functions of `mapped`, the first of
// equals; optional "module" or "library", where "[Unknown]" is none; all others are counters. A counter whose
// heading or values hold "%" is a share of the function's clockticks. CPU time is taken in seconds (values
// may say s, ms or us). Empty cells are left out. Columns that cannot be split over operations are left out
// too, and `say` gets a sentence for each: ratios (CPI, a rate), averages (a frequency), and shares if the
// table has no clockticks; and one if `mapped` knows little of what the table holds. Throws Unusable, naming
// file and line.
std::vector<Counter> read_counters(const std::string& path, const std::vector<MappedFunction>& mapped,
                                   const std::function<void(const std::string&)>& say);

// Whether a counter of this name counts clockticks, or seconds of CPU time.
bool is_clockticks(const std::string& name);
bool is_cpu_time(const std::string& name);

}  // namespace lotus::analyzer
