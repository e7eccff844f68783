// The functions in a binary's symbol tables, by address.
#pragma once

#include <elfutils/libdwfl.h>

#include <cstdint>
#include <string>
#include <vector>

#include "stacks/stack_store.hpp"

namespace lotus::collector {

class SymbolTable {
 public:
  // `module`: with main file, debug file and .gnu_debugdata found by libdwfl; outlives the table.
  explicit SymbolTable(Dwfl_Module* module);

  struct Symbol {
    std::uint64_t begin, end;  // virtual addresses; end == begin: size unknown
    const char* name;          // mangled
    NameSource source;
  };
  // The symbol of the function around `address`; nullptr if there is none. Of several with the same
  // beginning: a function before other code, global before weak before local, then the one with the fewest
  // leading underscores, the shortest, the first of the alphabet.
  // `function_begin`: where the unwind entry around the address begins, 0 unknown: a symbol without a size
  // that begins before it is another function's.
  const Symbol* find(std::uint64_t address, std::uint64_t function_begin) const;

 private:
  std::vector<Symbol> symbols_;  // by beginning, which are all different
};

}  // namespace lotus::collector
