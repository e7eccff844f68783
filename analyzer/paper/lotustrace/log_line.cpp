#include "paper/lotustrace/log_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace lotus::analyzer::lotustrace {
namespace {

struct Name {
  LineKind kind;
  std::string_view text;
};
constexpr Name kWhole[] = {
    {LineKind::loader, "SLoader"}, {LineKind::transform, "STransform"}, {LineKind::collation, "SCollation"}};
constexpr Name kNumbered[] = {{LineKind::preprocessed, "SBatchPreprocessed_"},
                              {LineKind::wait, "SBatchWait_"},
                              {LineKind::consumed, "SBatchConsumed_"},
                              {LineKind::queued, "SBatchQueued_"},
                              {LineKind::pinned, "SBatchPinMemory_"}};
constexpr std::string_view kNames =
    "NAME to be S<class>, SLoader, STransform, SCollation or SBatch{Preprocessed,Wait,Consumed,Queued,"
    "PinMemory}_<number>";

template <class Number>
bool number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool parse_name(std::string_view name, Line& line) {
  for (const auto& row : kWhole)
    if (name == row.text) return line.kind = row.kind, true;
  for (const auto& row : kNumbered)
    if (name.starts_with(row.text))
      return line.kind = row.kind, number(name.substr(row.text.size()), line.batch);
  line.kind = LineKind::op;
  line.op = name.substr(name.empty() ? 0 : 1);
  return name.starts_with('S') && !line.op.empty();
}

bool parse_times(std::string_view start, std::string_view duration, Line& line) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  return number(start, line.start) && number(duration, line.duration) && line.start >= 0 &&
         line.start < kMost && line.duration >= 0 && line.duration < kMost;
}

}  // namespace

std::optional<Line> parse_line(std::string_view text, std::string& expected) {
  const std::size_t first = text.find(',');
  const std::size_t last = text.rfind(',');
  if (std::count(text.begin(), text.end(), ',') != 2)
    return expected = "NAME,START_NS,DURATION_NS", std::nullopt;
  Line line;
  if (!parse_times(text.substr(first + 1, last - first - 1), text.substr(last + 1), line))
    return expected = "START_NS and DURATION_NS to be whole numbers of ns, not negative", std::nullopt;
  if (!parse_name(text.substr(0, first), line)) return expected = kNames, std::nullopt;
  return line;
}

std::string line_text(const Line& line) {
  std::string name = "S";
  for (const char c : line.op)
    name += c == ',' || static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '_' : c;
  for (const auto& row : kWhole)
    if (line.kind == row.kind) name = row.text;
  for (const auto& row : kNumbered)
    if (line.kind == row.kind) name = fmt::format("{}{}", row.text, line.batch);
  return fmt::format("{},{},{}\n", name, line.start, line.duration);
}

}  // namespace lotus::analyzer::lotustrace
