// UTF-8, one character at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lotus::analyzer {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 1 for a byte that is no UTF-8
  bool valid = false;
};

// The character at the start of `text`, which must not be empty.
Character first_character(std::string_view text);

// Columns that a character takes on a terminal: 0 (combining), 1 or 2 (wide).
int columns_of(char32_t code);

// Columns of a text that holds no control characters.
std::size_t display_width(std::string_view text);

// The longest start of `text` (or end, for suffix_of_width) that takes at most `columns` columns.
std::string_view prefix_of_width(std::string_view text, std::size_t columns);
std::string_view suffix_of_width(std::string_view text, std::size_t columns);

// `text` in at most `columns` columns: what does not fit is cut out of the middle and shown as …
std::string shortened(std::string_view text, std::size_t columns);

}  // namespace lotus::analyzer
