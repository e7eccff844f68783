// Names as their programmers wrote them.
#pragma once

#include <string>
#include <unordered_map>

namespace lotus::collector {

// C++ (Itanium ABI) names with their parameters and without return types, Rust names (both manglings)
// without hashes; any other name as it is, and one that would take more than 64 KiB. Symbol versions
// (`@…`) are cut off.
std::string demangled(const char* symbol);

// Remembers the names of one binary's symbols.
class Demangler {
 public:
  // demangled(symbol); `symbol` stays where it is and as it is while this lives.
  const std::string& name_of(const char* symbol);

 private:
  std::unordered_map<const char*, std::string> names_;
};

}  // namespace lotus::collector
