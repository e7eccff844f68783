// Properties of the output: its width, and whether it has colours.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace lotus::analyzer {

enum class Style { plain, bold, dim, red, yellow, green, cyan };

struct Terminal {
  std::size_t width = 80;
  bool colour = false;
  bool all_columns = false;  // tables are as wide as their content: in a file or pipe, nothing is left out

  // Of `stream`. The width is COLUMNS, else the terminal's, else 80 for sentences and unlimited for tables.
  // Colours on a terminal without NO_COLOR.
  static Terminal of(std::FILE* stream);

  // `text` in the style, or as it is where there are no colours.
  std::string styled(Style style, std::string_view text) const;
};

// `text` broken at spaces into lines of at most `width` columns, each after the first indented by
// `indent` columns. Words longer than a line are broken.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

}  // namespace lotus::analyzer
