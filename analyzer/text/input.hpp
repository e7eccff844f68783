// Reading a file that the user named.
#pragma once

#include <string>

namespace lotus::analyzer {

// All of it. `what` it should be, for the message, as "a mapping file". Throws Unusable.
std::string read_text(const std::string& path, const std::string& what);

}  // namespace lotus::analyzer
