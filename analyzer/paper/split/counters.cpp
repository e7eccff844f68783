#include "paper/split/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

#include "text/csv.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/input.hpp"

namespace lotus::analyzer {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string base_name_of(const std::string& path) { return path.substr(path.find_last_of("/\\") + 1); }

struct Number {
  double value = 0;
  bool percent = false;
  bool frequency = false;
};

// A number, with a unit or without, with or without commas between thousands.
std::optional<Number> number_of(std::string text) {
  std::erase(text, ',');
  Number number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (error != std::errc()) return std::nullopt;
  const std::string unit =
      lower(trimmed(std::string(end, static_cast<const char*>(text.data()) + text.size())));
  number.percent = unit == "%";
  number.frequency = unit == "hz" || unit == "khz" || unit == "mhz" || unit == "ghz";
  if (unit == "ms") number.value /= 1e3;
  if (unit == "us" || unit == "µs") number.value /= 1e6;
  const bool known = unit.empty() || number.percent || number.frequency || unit == "s" || unit == "ms" ||
                     unit == "us" || unit == "µs";
  return known ? std::optional(number) : std::nullopt;
}

class CounterTable {
 public:
  CounterTable(const std::string& path, std::vector<CsvRow> rows, const std::vector<MappedFunction>& mapped)
      : path_(path), rows_(std::move(rows)) {
    for (const auto& one : mapped) mapped_.insert(one.function);
    if (rows_.empty()) fail(1, "is empty");
    const auto& heading = rows_.front().cells;
    std::size_t most = 0;
    for (std::size_t i = 0; i < heading.size(); ++i) {
      const std::string name = lower(trimmed(heading[i]));
      const bool names = name.find("function") != name.npos || name.find("symbol") != name.npos;
      if (names && holds_names(i)) {
        const std::size_t known = mapped_in(i);
        if (!function_ || known > most) function_ = i;
        most = std::max(most, known);
        names_.insert(i);
      } else if (!library_ && (name.starts_with("module") || name.starts_with("library"))) {
        library_ = i;
      }
    }
    if (!function_) fail(rows_.front().line, "the heading has no column 'Function'");
  }

  std::vector<Counter> counters(const std::function<void(const std::string&)>& say) {
    std::vector<Counter> all;
    for (std::size_t row = 1; row < rows_.size(); ++row) add_row(rows_[row], all);
    if (all.empty()) fail(rows_.front().line, "no row holds a number");
    // One value with a % makes a column of shares.
    std::set<std::string> shares;
    for (const auto& counter : all)
      if (counter.percent) shares.insert(counter.name);
    for (auto& counter : all) counter.percent = shares.contains(counter.name);
    const bool clockticks = std::any_of(all.begin(), all.end(),
                                        [](const Counter& counter) { return is_clockticks(counter.name); });
    tell_of_unmapped(all, say);
    const auto leave_out = [&](const std::string& name, const char* why) {
      std::erase_if(all, [&](const Counter& counter) { return counter.name == name; });
      say(fmt::format("{}:{}: column '{}' is left out: {}", escaped(path_), rows_.front().line, escaped(name),
                      why));
    };
    for (const auto& name : names_of(all)) {
      if (is_ratio(name) || frequencies_.contains(name))
        leave_out(name, "it is a ratio or an average, which cannot be split over operations");
      else if (shares.contains(name) && !clockticks)
        leave_out(name, "it is in percent of clockticks, and the table has no column 'Clockticks'");
    }
    if (all.empty()) fail(rows_.front().line, "no column is left that can be split over operations");
    return all;
  }

 private:
  [[noreturn]] void fail(std::size_t line, const std::string& what) const {
    throw Unusable(fmt::format(
        "{}:{}: {}; expected a profiler's table with a heading: Function, Module, CPU Time, Clockticks, …",
        escaped(path_), line, what));
  }

  template <class Each>
  void each_cell(std::size_t column, Each each) const {
    for (std::size_t row = 1; row < rows_.size(); ++row)
      if (column < rows_[row].cells.size()) each(trimmed(rows_[row].cells[column]));
  }

  // Else it is a counter, as of calls of functions.
  bool holds_names(std::size_t column) const {
    bool numbers = false, names = false;
    each_cell(column, [&](const std::string& text) { (number_of(text) ? numbers : names) = true; });
    return names || !numbers;
  }

  std::size_t mapped_in(std::size_t column) const {
    std::size_t known = 0;
    each_cell(column, [&](const std::string& text) { known += mapped_.contains(text) ? 1 : 0; });
    return known;
  }

  // By clockticks, else by CPU time, else by the first column.
  void tell_of_unmapped(const std::vector<Counter>& all,
                        const std::function<void(const std::string&)>& say) const {
    constexpr double kLittle = 0.5;
    if (mapped_.empty()) return;
    std::string by = all.front().name;
    for (const auto& counter : all)
      if (is_clockticks(counter.name) || (is_cpu_time(counter.name) && !is_clockticks(by))) by = counter.name;
    double sum = 0, known = 0;
    for (const auto& counter : all) {
      if (counter.name != by) continue;
      sum += counter.value;
      known += mapped_.contains(counter.function) ? counter.value : 0;
    }
    if (sum > 0 && known < kLittle * sum)
      say(fmt::format("{}: only {:.1f} % of '{}' is in functions that the mapping names", escaped(path_),
                      100 * known / sum, escaped(by)));
  }

  void add_row(const CsvRow& row, std::vector<Counter>& all) {
    const auto& heading = rows_.front().cells;
    if (row.cells.size() != heading.size())
      fail(row.line, fmt::format("has {} columns, the heading {}", row.cells.size(), heading.size()));
    const std::string function = trimmed(row.cells[*function_]);
    if (function.empty()) fail(row.line, "names no function");
    std::string library = library_ ? base_name_of(trimmed(row.cells[*library_])) : "";
    if (library == "[Unknown]") library.clear();
    for (std::size_t i = 0; i < heading.size(); ++i) {
      const std::string text = trimmed(row.cells[i]);
      if (names_.contains(i) || (library_ && i == *library_) || text.empty() || is_text(i)) continue;
      const auto number = number_of(text);
      if (!number || !(number->value >= 0) || std::isinf(number->value))
        fail(row.line,
             fmt::format("'{}' in column '{}' is no number from 0 on", escaped(text), escaped(heading[i])));
      if (number->frequency) frequencies_.insert(trimmed(heading[i]));
      const bool percent = number->percent || heading[i].find('%') != std::string::npos;
      all.push_back({function, library, trimmed(heading[i]), number->value, percent});
    }
  }

  static std::vector<std::string> names_of(const std::vector<Counter>& all) {
    std::vector<std::string> names;
    for (const auto& counter : all)
      if (std::find(names.begin(), names.end(), counter.name) == names.end()) names.push_back(counter.name);
    return names;
  }

  static bool is_ratio(const std::string& name) {
    std::istringstream words(lower(name));
    for (std::string word; words >> word;)
      if (word == "average" || word == "cpi" || word == "ipc" || word == "rate" || word == "ratio")
        return true;
    return false;
  }

  // Source files, addresses and their like.
  bool is_text(std::size_t column) const {
    static constexpr const char* kTexts[] = {"source",  "start address", "function (full)", "process",
                                             "thread",  "file",          "address",         "class",
                                             "package", "line"};
    const std::string name = lower(trimmed(rows_.front().cells[column]));
    return std::any_of(std::begin(kTexts), std::end(kTexts),
                       [&](const char* text) { return name.starts_with(text); });
  }

  const std::string& path_;
  std::vector<CsvRow> rows_;
  std::optional<std::size_t> function_, library_;
  std::set<std::size_t> names_;  // columns of functions' names
  std::set<std::string> mapped_, frequencies_;
};

}  // namespace

bool is_clockticks(const std::string& name) {
  const std::string low = lower(name);
  return low.find("clocktick") != low.npos || low.find("cpu_clk_unhalted") != low.npos ||
         low.find("cycles not in halt") != low.npos;
}

bool is_cpu_time(const std::string& name) {
  const std::string low = lower(name);
  return low.starts_with("cpu time") || low.starts_with("cpu_time");
}

std::vector<Counter> read_counters(const std::string& path, const std::vector<MappedFunction>& mapped,
                                   const std::function<void(const std::string&)>& say) {
  return CounterTable(path, parse_csv(read_text(path, "a profiler's table")), mapped).counters(say);
}

}  // namespace lotus::analyzer
