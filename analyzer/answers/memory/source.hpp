// Lines of the program, by the places of the operators that they called.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "reading/trace/catalog.hpp"

namespace lotus::analyzer::memory {

struct SourceLine {
  std::string file, function;
  std::uint64_t line = 0;  // 0: not known

  bool empty() const { return file.empty(); }
  bool operator<(const SourceLine& other) const {
    return std::tie(file, function, line) < std::tie(other.file, other.function, other.line);
  }
};

// The program's own line on the way to a place: the innermost one whose code is no library's; where all is,
// the innermost one. Empty: the place is not known.
SourceLine source_of(const Process& process, std::uint64_t place);

// All lines on the way, outermost first.
std::vector<SourceLine> chain_of(const Process& process, std::uint64_t place);

// "train.py:88", with the file's last part; "not known".
std::string source_text(const SourceLine& source);

}  // namespace lotus::analyzer::memory
