// Reading a file that the user named.
#pragma once

#include <string>

namespace lotus::analyzer {

// The whole file. `what`: the expected kind of file, for messages, as "a mapping file". Throws Unusable.
std::string read_text(const std::string& path, const std::string& what);

}  // namespace lotus::analyzer
