// A table that fits its width: unimportant columns go first, then one column is shortened.
#pragma once

#include <string>
#include <vector>

#include "text/terminal.hpp"

namespace lotus::analyzer {

struct Column {
  std::string title{};         // a table of which no column has a title has no heading
  bool right = true;           // aligned
  int importance = 0;          // 0: always shown; else the column with the greatest number goes first
  bool flexible = false;       // may be shortened in the middle; at most one of a table
  std::size_t narrowest = 16;  // if flexible: columns go before it gets narrower than this
  Style style = Style::plain;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column; printable text (see escaped()).
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  // Lines of at most terminal.width columns where not all columns are wanted, each ended by a newline.
  std::string text(const Terminal& terminal) const;

 private:
  std::vector<std::size_t> natural_widths() const;
  std::vector<bool> chosen(const std::vector<std::size_t>& widths, std::size_t room) const;
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                   const std::vector<bool>& shown, const Terminal& terminal, bool heading) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace lotus::analyzer
