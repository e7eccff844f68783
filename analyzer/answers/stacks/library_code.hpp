// Whether Python code is the program's own.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace lotus::analyzer {

// By the path of its source: of Python itself or of what is installed.
inline bool is_library_code(std::string_view file) {
  constexpr std::string_view kParts[] = {"-packages/", "/lib/python3.", "<frozen "};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return file.find(part) != file.npos; });
}

}  // namespace lotus::analyzer
