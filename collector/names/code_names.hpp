// Names of well-known functions in libraries without symbols, by their code.
#pragma once

#include <cstdint>
#include <optional>

#include "stacks/elf_file.hpp"

namespace lotus::collector {

struct CodeName {
  const char* name;
  std::uint64_t bytes;  // of the function
};

// The function that begins at `begin`; empty: it is not known, or not certain. `bytes`: its size by its
// unwind entry, 0 if there is none.
std::optional<CodeName> name_by_code(const ElfFile& file, std::uint64_t begin, std::uint64_t bytes);

}  // namespace lotus::collector
