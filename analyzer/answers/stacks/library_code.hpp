// Whose Python code is that is not the program's own.
#pragma once

#include <lotus/library_code.hpp>
#include <string>
#include <string_view>

namespace lotus::analyzer {

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
