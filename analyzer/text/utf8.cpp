#include "text/utf8.hpp"

#include <clocale>
#include <cwchar>

namespace lotus::analyzer {
namespace {

// Wide and combining characters by the C library's table, whatever the user's locale is.
int width_in_utf8_locale(char32_t code) {
  static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 == nullptr) return 1;
  const locale_t before = ::uselocale(utf8);
  const int width = ::wcwidth(static_cast<wchar_t>(code));
  ::uselocale(before);
  return width < 0 ? 1 : width;
}

std::size_t expected_bytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

}  // namespace

Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = expected_bytes(lead);
  if (bytes == 1) return {lead, 1, true};
  const Character bad{0xfffd, 1, false};
  if (bytes == 0 || bytes > text.size()) return bad;
  char32_t code = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return bad;
    code = (code << 6) | (next & 0x3f);
  }
  static constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kSmallest[bytes] || code > 0x10ffff || surrogate) return bad;
  return {code, bytes, true};
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
