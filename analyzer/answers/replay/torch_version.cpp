#include "answers/replay/torch_version.hpp"

#include <charconv>

namespace lotus::analyzer {

std::pair<int, int> torch_version(const std::string& text) {
  std::pair<int, int> version;
  const char* const end = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, version.first);
  if (error != std::errc() || dot == end || *dot != '.') return {0, 0};
  std::from_chars(dot + 1, end, version.second);
  return version;
}

}  // namespace lotus::analyzer
