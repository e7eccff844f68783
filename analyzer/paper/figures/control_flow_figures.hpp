// Cocktailer's figures from recorded regions: 2, 15, 16 and 18 as bars of what is work and what is control
// flow, 17 of several traces, 19 as a ladder.
#pragma once

#include <string>
#include <vector>

#include "answers/controlflow/answer.hpp"

namespace lotus::analyzer {

// Draws those figures that there is something for into the directory, as SVG and PNG with the data as CSV
// beside it. `against`: a region without control flow, drawn beside figure 17; nullptr: none. Throws
// WrongUsage where one of the files exists, unless `replace`; Unusable where nothing can be drawn or written.
// The names of the files that were written, with commas.
std::string draw_control_flow_figures(const std::vector<controlflow::RegionAnswer>& answers,
                                      const controlflow::RegionAnswer* against, const std::string& directory,
                                      bool replace);

}  // namespace lotus::analyzer
