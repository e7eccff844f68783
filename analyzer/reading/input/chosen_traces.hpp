// Which traces a command reads.
#pragma once

#include <string>
#include <vector>

namespace lotus::analyzer {

// The traces that were named, else the newest *.lotus of the working directory; throws Unusable if
// there is none.
std::vector<std::string> chosen_traces(const std::vector<std::string>& named);

}  // namespace lotus::analyzer
