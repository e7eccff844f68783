// Which traces a command reads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lotus::analyzer {

// The traces that were named, each once, else the newest *.lotus of the working directory; throws Unusable if
// there is none. A single name that several programs had is that of the newest trace: x.lotus.1 stands for
// x.lotus if that is no trace, or an older one.
std::vector<std::string> chosen_traces(const std::vector<std::string>& named);

// Whether a file's name is that of a trace, and not of a copy that `redact` or `recover` made.
bool is_original_trace(const std::filesystem::path& path);

}  // namespace lotus::analyzer
