#include "text/csv.hpp"

#include <algorithm>

namespace lotus::analyzer {
namespace {

char separator_of(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char candidate : {',', '\t', ';'}) {
    const auto count = std::count(first.begin(), first.end(), candidate);
    if (count > most) best = candidate;
    most = std::max(most, count);
  }
  return best;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), separator_(separator_of(text)) {}

  std::vector<CsvRow> run() {
    for (at_ = 0; at_ < text_.size(); ++at_) take(text_[at_]);
    end_row();
    return std::move(rows_);
  }

 private:
  void take(char c) {
    if (c == '\n') ++line_;
    if (quoted_) {
      if (c != '"') {
        cell_ += c;
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        cell_ += text_[++at_];
      } else {
        quoted_ = false;
      }
    } else if (c == '"' && cell_.empty()) {
      quoted_ = true;
    } else if (c == separator_) {
      end_cell();
    } else if (c == '\n') {
      end_row();
    } else if (c != '\r') {
      cell_ += c;
    }
  }

  void end_cell() {
    row_.cells.push_back(std::move(cell_));
    cell_.clear();
  }

  void end_row() {
    end_cell();
    const bool empty = row_.cells.size() == 1 && row_.cells.front().empty();
    row_.line = begun_;
    if (!empty) rows_.push_back(std::move(row_));
    row_ = {};
    begun_ = line_;
  }

  std::string_view text_;
  char separator_;
  std::size_t at_ = 0, line_ = 1, begun_ = 1;
  bool quoted_ = false;
  std::string cell_;
  CsvRow row_;
  std::vector<CsvRow> rows_;
};

// What a spreadsheet would take for a formula: names of operations and files are the traced program's. A
// number is none.
bool begins_formula(std::string_view text) {
  if (text.empty() || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos) return false;
  return text.find_first_not_of("+-.,0123456789eE %") != std::string_view::npos;
}

}  // namespace

std::string csv_cell(std::string_view text) {
  if (begins_formula(text)) return csv_cell("'" + std::string(text));
  if (text.find_first_of(",\"\r\n\t;") == text.npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const auto& cell : cells)
    line += (line.empty() && &cell == &cells.front() ? "" : ",") + csv_cell(cell);
  return line + "\n";
}

std::vector<CsvRow> parse_csv(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return Parser(text).run();
}

}  // namespace lotus::analyzer
