#include "answers/plan/mps.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace lotus::analyzer::memory_plan {
namespace {

constexpr double kWhole = 1e-4;  // how far a solver's integer may be from one

enum State { slow, clean, dirty, kStates };

std::string name_of(char kind, std::size_t number) { return fmt::format("{}{:07}", kind, number); }

// Rows are named R…, columns X… and Y…, each with a number of its own: eight characters, as fixed columns
// need.
class Writer {
 public:
  Writer(const Problem& problem, std::int64_t limit) : problem_(problem) {
    const auto needed = problem.needed();
    limits_.resize(problem.moments);
    for (std::size_t k = 0; k < problem.moments; ++k)
      if (needed[k] > limit) limits_[k] = row('L', static_cast<double>(limit - problem.taken[k]));
    for (const Item& item : problem.items) add(item);
  }

  std::string text(const std::string& about) const {
    std::string out = fmt::format("* {}\nNAME          MEMPLAN\nROWS\n N  COST\n{}COLUMNS\n", about, rows_);
    out += "    MARKER                 'MARKER'                 'INTORG'\n";
    for (const std::string& column : integers_) out += column;
    out += "    MARKER                 'MARKER'                 'INTEND'\n" + edges_;
    out += entry("BASE", "COST", problem_.base_seconds * kUsPerS) + "RHS\n" + sides_ + "BOUNDS\n";
    for (std::size_t i = 0; i < integers_.size(); ++i) out += bound("UP", name_of('Y', i));
    return out + bound("FX", "BASE") + "ENDATA\n";
  }

 private:
  static std::string number(double value) {
    if (value == std::floor(value) && std::abs(value) < 1e10) return fmt::format("{:.0f}", value);
    return fmt::format("{:.{}e}", value, value < 0 ? 5 : 6);
  }

  static std::string entry(const std::string& column, const std::string& row, double value) {
    return fmt::format("    {:<8}  {:<8}  {:>12}\n", column, row, number(value));
  }

  static std::string bound(const char* type, const std::string& column) {
    return fmt::format(" {} BND       {:<8}  {:>12}\n", type, column, 1);
  }

  std::string row(char sense, double side) {
    std::string name = name_of('R', row_count_++);
    fmt::format_to(std::back_inserter(rows_), " {}  {}\n", sense, name);
    if (side != 0) sides_ += entry("RHS", name, side);
    return name;
  }

  // A flow's edge: its cost, the row that it leaves and those that it enters ("": none).
  void edge(double seconds, const std::string& from, const std::string& to, const std::string& fast) {
    const std::string name = name_of('X', edge_count_++);
    if (seconds != 0) edges_ += entry(name, "COST", seconds * kUsPerS);
    edges_ += entry(name, from, 1);
    if (!to.empty()) edges_ += entry(name, to, -1);
    if (!fast.empty()) edges_ += entry(name, fast, -1);
  }

  // The integer of a segment, which is the sum of the edges into fast memory there.
  std::string integer(const Item& item, const Segment& segment) {
    const std::string name = name_of('Y', integers_.size());
    std::string sum = row('E', 0);
    std::string& column = integers_.emplace_back(entry(name, sum, 1));
    for (std::size_t k = segment.first; k <= segment.last; ++k)
      if (!limits_[k].empty()) column += entry(name, limits_[k], static_cast<double>(item.pages));
    return sum;
  }

  void add(const Item& item) {
    const std::string start = row('E', 1);
    std::string at[kStates];  // rows that keep the flow, by state
    const std::size_t first_integer = integers_.size();
    for (std::size_t j = 0; j < item.segments.size(); ++j) {
      const Segment& segment = item.segments[j];
      const bool last = j + 1 == item.segments.size();
      const std::string fast = integer(item, segment);
      std::string next[kStates];
      if (!last)
        for (auto& name : next) name = row('E', 0);
      if (j == 0) {
        edge(segment.slow_seconds, start, next[slow], "");
        edge(0, start, next[dirty], fast);
      } else {
        const State into = segment.written ? dirty : clean;
        edge(segment.slow_seconds, at[slow], next[slow], "");
        if (segment.use) edge(item.in_seconds, at[slow], next[into], fast);
        edge(0, at[clean], next[into], fast);
        edge(0, at[dirty], next[dirty], fast);
        if (item.segments[j - 1].use) {
          edge(segment.slow_seconds, at[clean], next[slow], "");
          edge(segment.slow_seconds + item.out_seconds, at[dirty], next[slow], "");
        }
      }
      std::copy(std::begin(next), std::end(next), std::begin(at));
    }
    if (item.cyclic && integers_.size() - first_integer > 1) {
      const std::string same = row('E', 0);
      integers_[first_integer] += entry(name_of('Y', first_integer), same, 1);
      integers_.back() += entry(name_of('Y', integers_.size() - 1), same, -1);
    }
  }

  const Problem& problem_;
  std::vector<std::string> limits_;  // rows, by moment; "": it cannot be passed
  std::string rows_, edges_, sides_;
  std::vector<std::string> integers_;  // columns
  std::size_t row_count_ = 0, edge_count_ = 0;
};

}  // namespace

std::string mps_text(const Problem& problem, std::int64_t limit_pages, const std::string& about) {
  return Writer(problem, limit_pages).text(about);
}

std::optional<Placement> placement_of(const Problem& problem, const std::map<std::string, double>& columns) {
  Placement placement = all_in(problem, false);
  std::size_t number = 0;
  for (auto& places : placement)
    for (auto&& place : places) {
      const auto column = columns.find(name_of('Y', number++));
      const double value = column == columns.end() ? 0 : column->second;
      if (std::abs(value - std::round(value)) > kWhole || value < -0.5 || value > 1.5) return std::nullopt;
      place = value > 0.5;
    }
  return placement;
}

}  // namespace lotus::analyzer::memory_plan
