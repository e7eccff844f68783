#include "answers/plan/costs.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "text/csv.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/input.hpp"

namespace lotus::analyzer::memory_plan {
namespace {

constexpr const char* kForm =
    "give a line NAME,FACTOR for each operator, as aten::mm,2.5, or a JSON object as {\"aten::mm\": 2.5}";

bool number_of(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

void add(KernelTable& table, const std::string& place, const std::string& name, double factor) {
  if (!std::isfinite(factor) || factor < 1)
    throw Unusable(fmt::format("{}: {} takes {} times its time in slow memory; a factor is 1 or more", place,
                               escaped(name), factor));
  if (!table.factors.emplace(name, factor).second)
    throw Unusable(fmt::format("{}: {} is there twice; leave one of them out", place, escaped(name)));
}

void read_csv(KernelTable& table, const std::string& text) {
  bool first = true;
  for (const CsvRow& row : parse_csv(text)) {
    double factor = 0;
    const std::string place = fmt::format("{}, line {}", escaped(table.file), row.line);
    const bool whole = row.cells.size() == 2 && number_of(row.cells[1], factor);
    if (whole)
      add(table, place, row.cells[0], factor);
    else if (!first || row.cells.size() != 2)
      throw Unusable(fmt::format("{}: is no operator's factor; {}", place, kForm));
    first = false;
  }
}

void read_json(KernelTable& table, const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) throw Unusable(fmt::format("{}: is no JSON object; {}", escaped(table.file), kForm));
  for (const auto& [name, factor] : json.items()) {
    if (!factor.is_number())
      throw Unusable(fmt::format("{}, {}: is no number; {}", escaped(table.file), escaped(name), kForm));
    add(table, escaped(table.file), name, factor.get<double>());
  }
}

}  // namespace

KernelTable KernelTable::read(const std::string& file) {
  KernelTable table;
  table.file = file;
  const std::string text = read_text(file, "a table of operators");
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start != std::string::npos && text[start] == '{')
    read_json(table, text);
  else
    read_csv(table, text);
  if (table.factors.empty()) throw Unusable(fmt::format("{}: names no operator; {}", escaped(file), kForm));
  return table;
}

double Costs::operand(const memory::Step& step, const memory::Operator& op,
                      const memory::Operand& operand) const {
  const auto bytes = static_cast<double>(step.storages[operand.storage].bytes);
  const auto measured = table_.factors.find(op.name);
  if (measured != table_.factors.end()) {
    double all = 0;
    for (const auto& other : op.operands) all += static_cast<double>(step.storages[other.storage].bytes);
    return all > 0 ? op.seconds * (measured->second - 1) * bytes / all : 0;
  }
  if (!operand.read && !operand.written) return 0;
  double seconds = tier_.latency;
  if (operand.read) seconds += bytes * (1 / tier_.read - 1 / tier_.fast);
  if (operand.written) seconds += bytes * (1 / tier_.write - 1 / tier_.fast);
  return seconds;
}

double Costs::move_to_fast(std::uint64_t bytes) const {
  return tier_.latency + static_cast<double>(bytes) / tier_.read;
}

double Costs::move_to_slow(std::uint64_t bytes) const {
  return tier_.latency + static_cast<double>(bytes) / tier_.write;
}

}  // namespace lotus::analyzer::memory_plan
