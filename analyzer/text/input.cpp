#include "text/input.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {

std::string read_text(const std::string& path, const std::string& what) {
  std::error_code ignored;
  const bool directory = std::filesystem::is_directory(path, ignored);
  std::ifstream file(path);
  if (directory || !file)
    throw Unusable(fmt::format("{}: cannot be read: {}; name {}", escaped(path),
                               directory ? "is a directory" : std::strerror(errno), what));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace lotus::analyzer
