// Function names from a binary's debugging information, including inlined functions.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "names/demangle.hpp"
#include "stacks/stack_store.hpp"

namespace lotus::collector {

class DwarfNames {
 public:
  // `dwarf`: nullptr if there is none; it and `demangler` outlive this. Reads the compilation units' extents
  // only.
  DwarfNames(Dwarf* dwarf, Demangler& demangler);

  // The functions at an address of the debugging information, innermost first; empty if it has none there.
  // `symbol`: mangled, of the function around the address, may be null. Unlike debugging information, it
  // names the function around a local function or lambda.
  std::vector<NamedFrame> find(std::uint64_t address, const char* symbol);

 private:
  struct Extent {
    std::uint64_t begin, end;
    Dwarf_Die die;
  };
  using Extents = std::vector<Extent>;  // by beginning
  static void add(Extents& extents, Dwarf_Die& die);
  static Dwarf_Die* smallest(Extents& extents, std::uint64_t address);
  static void add_functions(Extents& extents, Dwarf_Die& parent, int depth);
  Extents& functions_of(Dwarf_Die& unit);
  std::string name_by_symbol(const char* symbol);
  FunctionName name_of(Dwarf_Die& die, const char* symbol);

  Demangler& demangler_;
  Extents units_;
  std::unordered_map<std::uint64_t, Extents> functions_;  // by offset of the unit
};

}  // namespace lotus::collector
