// Loaded objects, and the functions that they define, by the loader's own tables.
#pragma once

#include <elf.h>
#include <link.h>

#include <string_view>

namespace lotus {

// A loaded object as it is now. One that is unloaded later, and another that takes its addresses, are told
// apart by comparing.
struct Loaded {
  const link_map* map = nullptr;
  const void* start = nullptr;
  const void* end = nullptr;

  bool operator==(const Loaded&) const = default;
  explicit operator bool() const { return map != nullptr; }
  std::string_view path() const;  // empty for the main program
};

// A function that an object defines.
struct Symbol {
  const Elf64_Sym* entry = nullptr;  // in the object's own table
  const char* name = nullptr;        // there, too
  const char* base = nullptr;
  Elf64_Addr value = 0;

  explicit operator bool() const { return entry != nullptr; }
  void* address() const { return const_cast<char*>(base + value); }
  // Whether the object still says so; it must be loaded. With this, a cached symbol is as good as a new one.
  bool holds(std::string_view expected) const {
    return entry->st_value == value && name == expected && entry->st_shndx != SHN_UNDEF;
  }
};

// Looks in the object itself, not in what it depends on. Empty: it does not define this function.
Symbol find_symbol(const Loaded& object, const char* name);

// Whether the object calls a function of this name that other objects define.
bool imports_symbol(const Loaded& object, std::string_view name);

}  // namespace lotus
