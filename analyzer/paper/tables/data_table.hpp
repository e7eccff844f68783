// A table of facts in three forms: for people, as CSV, as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/terminal.hpp"

namespace lotus::analyzer {

// The format of a column. `function`: a function's name, shortened in text for people. `ms` and `seconds`: in
// these units in CSV and JSON.
enum class Unit { text, function, count, ms, seconds, percent, number };

struct DataColumn {
  const char* name;   // in CSV and JSON
  const char* title;  // for people; nullptr: not shown
  Unit unit = Unit::text;
  int importance = 0;     // see Column
  bool flexible = false;  // see Column
};

struct DataTable {
  using Cell = nlohmann::ordered_json;  // text, a number, true or false, or null: not known

  std::vector<DataColumn> columns;
  std::vector<std::vector<Cell>> rows;

  void add(std::vector<Cell> cells) { rows.push_back(std::move(cells)); }

  std::string text(const Terminal& terminal) const;
  std::string csv() const;
  nlohmann::ordered_json json() const;  // a list of objects
};

}  // namespace lotus::analyzer
