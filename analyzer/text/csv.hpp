// Values separated by commas, tabs or semicolons.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lotus::analyzer {

// A text as a cell: in quotes where it must be.
std::string csv_cell(std::string_view text);
// Cells as a line with its end.
std::string csv_line(const std::vector<std::string>& cells);

struct CsvRow {
  std::vector<std::string> cells;
  std::size_t line = 0;  // where it begins in the text, from 1
};

// The rows of a text; empty lines are left out. The separator is the one of tab, semicolon and comma that the
// first line has most of. Quoted cells may hold separators, line ends and doubled quotes.
std::vector<CsvRow> parse_csv(std::string_view text);

}  // namespace lotus::analyzer
