// Several figures of one answer, each as CSV, SVG and PNG in a directory.
#pragma once

#include <string>
#include <vector>

#include "paper/tables/data_table.hpp"

namespace lotus::analyzer {

struct Drawing {
  std::string number;  // as draw_figure has it
  std::string file;    // without suffix
  std::string title;
  DataTable table;
};

// Makes the directory where it is not there. Returns the names of the files, as they may be shown. Throws
// Unusable where it is none, and WrongUsage where a file exists and `replace` is not asked for; then nothing
// is written.
std::string draw_into(const std::string& directory, const std::vector<Drawing>& drawings, bool replace);

}  // namespace lotus::analyzer
