#include "text/table.hpp"

#include <algorithm>
#include <cstdint>

#include "text/utf8.hpp"

namespace lotus::analyzer {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kBetween = 2;

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t have = display_width(text);
  const std::string space(have < width ? width - have : 0, ' ');
  return right ? space + text : text + space;
}

}  // namespace

std::vector<std::size_t> Table::natural_widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i]));
    widths.push_back(width);
  }
  return widths;
}

// The columns that fit into `room` when the flexible one is at its narrowest.
std::vector<bool> Table::chosen(const std::vector<std::size_t>& widths, std::size_t room) const {
  std::vector<bool> shown(columns_.size(), true);
  for (;;) {
    std::size_t need = kIndent;
    std::size_t least = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!shown[i]) continue;
      need += (columns_[i].flexible ? std::min(widths[i], columns_[i].narrowest) : widths[i]) + kBetween;
      const bool goes_before =
          least == columns_.size() || columns_[i].importance >= columns_[least].importance;
      if (columns_[i].importance > 0 && goes_before) least = i;
    }
    if (need - kBetween <= room || least == columns_.size()) return shown;
    shown[least] = false;
  }
}

std::string Table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                        const std::vector<bool>& shown, const Terminal& terminal, bool heading) const {
  std::string out(kIndent, ' ');
  std::size_t pending = 0;  // spaces, written only when something follows
  bool first = true;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!shown[i]) continue;
    if (!first) pending += kBetween;
    first = false;
    const std::string cell = shortened(cells[i], widths[i]);
    const std::string text = padded(cell, widths[i], columns_[i].right);
    const std::size_t start = text.find_first_not_of(' ');
    if (start == std::string::npos) {
      pending += widths[i];
      continue;
    }
    const std::size_t stop = text.find_last_not_of(' ') + 1;
    out += std::string(pending + start, ' ');
    out += terminal.styled(heading ? Style::dim : columns_[i].style, text.substr(start, stop - start));
    pending = text.size() - stop;
  }
  return out + '\n';
}

std::string Table::text(const Terminal& terminal) const {
  std::vector<std::size_t> widths = natural_widths();
  const std::size_t room = terminal.all_columns ? SIZE_MAX : terminal.width;
  const std::vector<bool> shown = chosen(widths, room);
  std::size_t used = kIndent;
  for (std::size_t i = 0; i < widths.size(); ++i)
    if (shown[i]) used += widths[i] + kBetween;
  used -= kBetween;
  for (std::size_t i = 0; i < widths.size() && used > room; ++i) {
    if (!columns_[i].flexible) continue;
    const std::size_t narrower = widths[i] - std::min(widths[i] - 1, used - room);
    used -= widths[i] - narrower;
    widths[i] = narrower;
  }
  std::vector<std::string> titles;
  for (const auto& column : columns_) titles.push_back(column.title);
  const bool titled =
      std::any_of(titles.begin(), titles.end(), [](const auto& title) { return !title.empty(); });
  std::string out = titled ? line(titles, widths, shown, terminal, true) : std::string();
  for (const auto& row : rows_) out += line(row, widths, shown, terminal, false);
  return out;
}

}  // namespace lotus::analyzer
