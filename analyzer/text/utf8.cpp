#include "text/utf8.hpp"

#include <utf8.h>

#include <clocale>
#include <cwchar>

namespace lotus::analyzer {
namespace {

// Wide and combining characters by the C library's table, whatever the user's locale is.
int width_in_utf8_locale(char32_t code) {
  static const locale_t locale = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (locale == nullptr) return 1;
  const locale_t before = ::uselocale(locale);
  const int width = ::wcwidth(static_cast<wchar_t>(code));
  ::uselocale(before);
  return width < 0 ? 1 : width;
}

}  // namespace

Character first_character(std::string_view text) {
  constexpr std::size_t kLongest = 4;
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1, true};
  if (utf8::find_invalid(text.substr(0, kLongest)) == 0) return {0xfffd, 1, false};
  const char* end = text.data();
  const char32_t code = utf8::unchecked::next(end);
  return {code, static_cast<std::size_t>(end - text.data()), true};
}

int columns_of(char32_t code) { return code < 0x300 ? 1 : width_in_utf8_locale(code); }

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    columns += static_cast<std::size_t>(columns_of(character.code));
    text.remove_prefix(character.bytes);
  }
  return columns;
}

std::string_view prefix_of_width(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Character character = first_character(text.substr(bytes));
    const auto width = static_cast<std::size_t>(columns_of(character.code));
    if (width > columns) break;
    columns -= width;
    bytes += character.bytes;
  }
  return text.substr(0, bytes);
}

std::string_view suffix_of_width(std::string_view text, std::size_t columns) {
  std::size_t width = display_width(text);
  while (width > columns && !text.empty()) {
    const Character character = first_character(text);
    width -= static_cast<std::size_t>(columns_of(character.code));
    text.remove_prefix(character.bytes);
  }
  return text;
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  const std::size_t head = (columns - 1) / 2;
  const std::string_view start = prefix_of_width(text, head);
  const std::string_view end = suffix_of_width(text, columns - 1 - display_width(start));
  return std::string(start) + "…" + std::string(end);
}

}  // namespace lotus::analyzer
