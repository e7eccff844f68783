// Names as their programmers wrote them.
#pragma once

#include <string>

namespace lotus::collector {

// C++ (Itanium ABI) names with their parameters and without return types, Rust names (both manglings)
// without hashes; any other name as it is. Symbol versions (`@…`) are cut off.
std::string demangled(const char* symbol);

}  // namespace lotus::collector
