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

std::size_t width_of(std::FILE* stream) {
  const char* columns = std::getenv("COLUMNS");
  const long wanted = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
  if (wanted > 0) return static_cast<std::size_t>(wanted);
  struct winsize size {};
  if (::isatty(::fileno(stream)) == 1 && ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 80;
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
  const bool wanted = no_colour == nullptr || no_colour[0] == '\0';
  const char* type = std::getenv("TERM");
  const bool dumb = type != nullptr && std::string_view(type) == "dumb";
  return {std::clamp(width_of(stream), kNarrowest, kWidest),
          wanted && !dumb && ::isatty(::fileno(stream)) == 1};
}

std::string Terminal::styled(Style style, std::string_view text) const {
  if (!colour || style == Style::plain || text.empty()) return std::string(text);
  return std::string(code_of(style)) + std::string(text) + "\x1b[0m";
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    if (display_width(word) + indent > width)
      word = prefix_of_width(word, std::max<std::size_t>(1, width - indent));
    if (word.empty() && text[0] != ' ') word = text.substr(0, first_character(text).bytes);
    const std::size_t columns = display_width(word);
    if (used > 0 && used + 1 + columns > width) {
      out += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (used > indent) {
      out += ' ';
      ++used;
    }
    out += word;
    used += columns;
    text.remove_prefix(word.size());
    if (!text.empty() && text[0] == ' ') text.remove_prefix(1);
  }
  return out;
}

}  // namespace lotus::analyzer
