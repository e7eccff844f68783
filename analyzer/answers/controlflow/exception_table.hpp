// Tables of exceptions: which instructions lead to which handler. CPython has them from 3.11 on; see
// InternalDocs/exception_handling.md there (earlier: Objects/exception_handling_notes.txt).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "answers/controlflow/bytecode.hpp"

namespace lotus::analyzer::controlflow {

// By number of instruction.
struct Guarded {
  std::size_t first = 0, end = 0;  // what raises here …
  std::size_t handler = 0;         // … goes on there
};

// Ascending, and apart. Nothing: bytes that cannot be this code's table.
std::optional<std::vector<Guarded>> exceptions_of(const std::vector<Instruction>& code,
                                                  std::string_view table);

}  // namespace lotus::analyzer::controlflow
