#include "paper/tables/data_table.hpp"

#include <fmt/format.h>

#include "text/csv.hpp"
#include "text/escape.hpp"
#include "text/function_name.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

std::string for_people(const DataTable::Cell& cell, Unit unit) {
  if (cell.is_null()) return "-";
  if (cell.is_string()) {
    const auto& text = cell.get_ref<const std::string&>();
    return escaped(unit == Unit::function ? readable_function(text) : text);
  }
  if (cell.is_boolean()) return cell.get<bool>() ? "yes" : "no";
  const auto value = cell.get<double>();
  switch (unit) {
    case Unit::count:
      return human_count(cell.get<std::uint64_t>());
    case Unit::ms:
      return human_time(value * kNsPerMs);
    case Unit::seconds:
      return human_time(value * kNsPerS);
    case Unit::percent:
      return human_percent(value);
    default:
      return fmt::format("{:.4g}", value);
  }
}

std::string for_csv(const DataTable::Cell& cell) {
  if (cell.is_null()) return "";
  if (cell.is_string()) return escaped(cell.get<std::string>());
  if (cell.is_boolean()) return cell.get<bool>() ? "1" : "0";
  if (cell.is_number_float()) return fmt::format("{}", cell.get<double>());
  return cell.dump();
}

}  // namespace

std::string DataTable::text(const Terminal& terminal) const {
  std::vector<Column> shown;
  for (const auto& column : columns) {
    if (column.title == nullptr) continue;
    const bool words = column.unit == Unit::text || column.unit == Unit::function;
    shown.push_back({.title = column.title,
                     .right = !words,
                     .importance = column.importance,
                     .flexible = column.flexible,
                     .narrowest = 20});
  }
  Table table(std::move(shown));
  for (const auto& row : rows) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i].title != nullptr) cells.push_back(for_people(row[i], columns[i].unit));
    table.add(std::move(cells));
  }
  return table.text(terminal);
}

std::string DataTable::csv() const {
  std::vector<std::string> cells;
  for (const auto& column : columns) cells.emplace_back(column.name);
  std::string out = csv_line(cells);
  for (const auto& row : rows) {
    cells.clear();
    for (const auto& cell : row) cells.push_back(for_csv(cell));
    out += csv_line(cells);
  }
  return out;
}

nlohmann::ordered_json DataTable::json() const {
  auto list = nlohmann::ordered_json::array();
  for (const auto& row : rows) {
    nlohmann::ordered_json object;
    for (std::size_t i = 0; i < columns.size(); ++i) object[columns[i].name] = row[i];
    list.push_back(std::move(object));
  }
  return list;
}

}  // namespace lotus::analyzer
