// Whether Python code is the program's own, for the recorder and the analyzer.
#pragma once

#include <string_view>

namespace lotus {

// By the path of its source: of Python itself or of what is installed.
constexpr bool is_library_code(std::string_view file) {
  for (const std::string_view part : {"-packages/", "/lib/python3.", "<frozen "})
    if (file.find(part) != file.npos) return true;
  return false;
}

}  // namespace lotus
