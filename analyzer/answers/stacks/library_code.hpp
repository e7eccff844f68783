// Whether Python code is the program's own, and whose it is else.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace lotus::analyzer {

// By the path of its source: of Python itself or of what is installed.
inline bool is_library_code(std::string_view file) {
  constexpr std::string_view kParts[] = {"-packages/", "/lib/python3.", "<frozen "};
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return file.find(part) != file.npos; });
}

// The package or module that a library's file is of: `pandas`, `subprocess`. Empty: the file is no library's.
inline std::string library_of(std::string_view file) {
  constexpr std::string_view kPackages = "-packages/";
  if (!is_library_code(file)) return {};
  const std::size_t at = file.find(kPackages);
  std::string_view name = file.substr(at == file.npos ? file.rfind('/') + 1 : at + kPackages.size());
  name = name.substr(0, name.find('/'));
  if (name.ends_with(".py")) name.remove_suffix(3);
  return std::string(name);
}

}  // namespace lotus::analyzer
