// The lines of a code's instructions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "answers/controlflow/bytecode.hpp"

namespace lotus::analyzer::controlflow {

// Beside `code`: the line of each instruction; 0: not known, or none. `table`: co_lnotab in 3.9, co_linetable
// later (Objects/lnotab_notes.txt, Objects/locations.md). `first`: the code's first line.
std::vector<std::uint32_t> lines_of(unsigned minor, const std::vector<Instruction>& code,
                                    std::string_view table, std::uint64_t first);

// Beside `code`, of 3.11 and newer: 1 + the column in the source's line where what an instruction is of
// begins; 0: not known, or none.
std::vector<std::uint32_t> columns_of(unsigned minor, const std::vector<Instruction>& code,
                                      std::string_view table);

}  // namespace lotus::analyzer::controlflow
