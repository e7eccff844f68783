// Where functions without symbols and unwind entries begin: where other code calls them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "stacks/elf_file.hpp"

namespace lotus::collector {

class CallTargets {
 public:
  // Searches all code of `file` for direct calls, jumps into other functions, and instructions that take the
  // address of a function.
  explicit CallTargets(const ElfFile& file);

  // The beginning of the function around `address`, which no unwind entry covers; empty if nothing calls it.
  std::optional<std::uint64_t> function_at(std::uint64_t address) const;

 private:
  template <class Instructions>
  void search(const ElfFile::Code& code);
  // The end of the last function with an unwind entry that begins at or before `address`, 0 if there is none.
  std::uint64_t end_of_last_function(std::uint64_t address) const;

  std::vector<ElfFile::Function> functions_;  // with unwind entries
  std::vector<std::uint64_t> targets_;        // ascending, outside of those
};

}  // namespace lotus::collector
