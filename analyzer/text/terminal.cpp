#include "text/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "text/utf8.hpp"

namespace lotus::analyzer {
namespace {

constexpr std::size_t kNarrowest = 40;
constexpr std::size_t kWidest = 400;

// The value of COLUMNS; 0: not set.
std::size_t wanted_width() {
  const char* columns = std::getenv("COLUMNS");
  return columns == nullptr ? 0 : static_cast<std::size_t>(std::max(0L, std::strtol(columns, nullptr, 10)));
}

// Of a terminal; 0: not known.
std::size_t width_of(std::FILE* stream) {
  struct winsize size {};
  const bool known = ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0;
  return known ? size.ws_col : 0;
}

bool is_unit(std::string_view word) {
  while (!word.empty() && std::string_view(".,;:)").find(word.back()) != std::string_view::npos)
    word.remove_suffix(1);
  static constexpr std::string_view kUnits[] = {"%", "ns", "µs", "ms", "s", "min", "h"};
  return std::find(std::begin(kUnits), std::end(kUnits), word) != std::end(kUnits);
}

// The next word; a number keeps its unit.
std::string_view next_word(std::string_view text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  if (end == 0 || end == text.size() || text[end - 1] < '0' || text[end - 1] > '9')
    return text.substr(0, end);
  const std::string_view rest = text.substr(end + 1);
  const std::string_view following = rest.substr(0, rest.find(' '));
  return text.substr(0, is_unit(following) ? end + 1 + following.size() : end);
}

const char* code_of(Style style) {
  switch (style) {
    case Style::bold:
      return "\x1b[1m";
    case Style::dim:
      return "\x1b[2m";
    case Style::red:
      return "\x1b[1;31m";
    case Style::yellow:
      return "\x1b[1;33m";
    case Style::green:
      return "\x1b[1;32m";
    case Style::cyan:
      return "\x1b[36m";
    case Style::plain:
      return "";
  }
  return "";
}

}  // namespace

Terminal Terminal::of(std::FILE* stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  const bool colour_wanted = no_colour == nullptr || no_colour[0] == '\0';
  const char* type = std::getenv("TERM");
  const bool dumb = type != nullptr && std::string_view(type) == "dumb";
  const bool is_terminal = ::isatty(::fileno(stream)) == 1;
  Terminal terminal;
  std::size_t width = wanted_width();
  terminal.all_columns = width == 0 && !is_terminal;
  if (width == 0 && is_terminal) width = width_of(stream);
  if (width > 0) terminal.width = std::clamp(width, kNarrowest, kWidest);
  terminal.colour = colour_wanted && !dumb && is_terminal;
  return terminal;
}

std::string Terminal::styled(Style style, std::string_view text) const {
  if (!colour || style == Style::plain || text.empty()) return std::string(text);
  return std::string(code_of(style)) + std::string(text) + "\x1b[0m";
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  bool begun = false;  // the line has a word
  while (!text.empty()) {
    std::string_view word = next_word(text);
    if (display_width(word) + indent > width)
      word = prefix_of_width(word, std::max<std::size_t>(1, width - indent));
    if (word.empty() && text[0] != ' ') word = text.substr(0, first_character(text).bytes);
    const std::size_t columns = display_width(word);
    if (begun && used + 1 + columns > width) {
      out += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (begun) {
      out += ' ';
      ++used;
    }
    out += word;
    used += columns;
    begun = true;
    text.remove_prefix(word.size());
    if (!text.empty() && text[0] == ' ') text.remove_prefix(1);
  }
  return out;
}

}  // namespace lotus::analyzer
