// Demangling: function names as they stand in the source.
#pragma once

#include <string>
#include <unordered_map>

namespace lotus::collector {

// C++ (Itanium ABI) names with parameters and without return types, Rust names (both manglings) without
// hashes. Other names, and those that would take more than 64 KiB, are returned unchanged. Symbol versions
// (`@…`) are cut off.
std::string demangled(const char* symbol);

// Remembers the names of one binary's symbols.
class Demangler {
 public:
  // demangled(symbol). `symbol` must neither move nor change while this lives.
  const std::string& name_of(const char* symbol);

 private:
  std::unordered_map<const char*, std::string> names_;
};

}  // namespace lotus::collector
