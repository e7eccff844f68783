#include "answers/controlflow/line_table.hpp"

namespace lotus::analyzer::controlflow {
namespace {

// Assigns lines to instructions, range by range.
class Assigner {
 public:
  Assigner(const std::vector<Instruction>& code, std::vector<std::uint32_t>& lines)
      : code_(code), lines_(lines) {}

  // From where the last range ended up to `end`, in bytes.
  void range(std::uint64_t end, std::int64_t line) {
    for (; next_ < code_.size() && code_[next_].offset < end; ++next_)
      lines_[next_] = line > 0 && line <= UINT32_MAX ? static_cast<std::uint32_t>(line) : 0;
  }
  void rest(std::int64_t line) { range(UINT64_MAX, line); }

 private:
  const std::vector<Instruction>& code_;
  std::vector<std::uint32_t>& lines_;
  std::size_t next_ = 0;
};

std::int64_t signed_byte(char c) { return static_cast<signed char>(c); }
std::uint8_t byte_of(char c) { return static_cast<std::uint8_t>(c); }

// Pairs (bytes since the last pair, lines since then): the line is that from there on.
void read_lnotab(Assigner& assign, std::string_view table, std::int64_t line) {
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    if (const std::uint8_t bytes = byte_of(table[i]); bytes != 0) {
      offset += bytes;
      assign.range(offset, line);
    }
    line += signed_byte(table[i + 1]);
  }
  assign.rest(line);
}

// Pairs (bytes of a range, lines since the last range; -128: the range has none).
void read_ranges(Assigner& assign, std::string_view table, std::int64_t line) {
  constexpr std::int64_t kNoLine = -128;
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    const std::int64_t more = signed_byte(table[i + 1]);
    if (more != kNoLine) line += more;
    offset += byte_of(table[i]);
    assign.range(offset, more == kNoLine ? 0 : line);
  }
}

// Entries of locations: how many 2-byte units, in which form, lines since the last entry.
class Locations {
 public:
  explicit Locations(std::string_view table) : table_(table) {}

  void read(Assigner* lines, Assigner* columns, std::int64_t line) {
    std::uint64_t offset = 0;
    while (at_ < table_.size()) {
      const std::uint8_t head = byte_of(table_[at_++]);
      if ((head & 0x80) == 0) return;  // damaged
      const unsigned form = head >> 3 & 15;
      offset += 2 * (std::uint64_t{head} % 8 + 1);
      line += lines_of_entry(form);
      if (lines != nullptr) lines->range(offset, form == kNone ? 0 : line);
      if (columns != nullptr) columns->range(offset, column_);
    }
  }

 private:
  static constexpr unsigned kOneLine = 10, kNoColumns = 13, kLong = 14, kNone = 15;

  // Of one entry, with its column.
  std::int64_t lines_of_entry(unsigned form) {
    column_ = 0;
    if (form == kNone) return 0;
    if (form == kNoColumns || form == kLong) {
      const std::int64_t more = signed_number();
      if (form == kNoColumns) return more;
      number();  // lines to its end
      column_ = static_cast<std::int64_t>(number());
      number();  // the column of its end
      return more;
    }
    const std::uint8_t first = at_ < table_.size() ? byte_of(table_[at_]) : std::uint8_t{0};
    column_ = 1 + (form >= kOneLine ? std::int64_t{first} : std::int64_t{form} * 8 + (first >> 4));
    at_ += form >= kOneLine ? 2 : 1;
    return form >= kOneLine ? form - kOneLine : 0;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ < table_.size() && shift < 60; shift += 6) {
      const std::uint8_t part = byte_of(table_[at_++]);
      value |= std::uint64_t{part} % 64 << shift;
      if ((part & 64) == 0) break;
    }
    return value;
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    const auto size = static_cast<std::int64_t>(value >> 1);
    return (value & 1) != 0 ? -size : size;
  }

  std::string_view table_;
  std::size_t at_ = 0;
  std::int64_t column_ = 0;  // 1 + that of the last entry; 0: it has none
};

}  // namespace

std::vector<std::uint32_t> lines_of(unsigned minor, const std::vector<Instruction>& code,
                                    std::string_view table, std::uint64_t first) {
  std::vector<std::uint32_t> lines(code.size(), 0);
  // Of a code whose instructions all are in its first line, 3.9 has an empty table.
  if ((table.empty() && minor > 9) || first > UINT32_MAX) return lines;
  Assigner assign(code, lines);
  const auto line = static_cast<std::int64_t>(first);
  if (minor <= 9)
    read_lnotab(assign, table, line);
  else if (minor == 10)
    read_ranges(assign, table, line);
  else
    Locations(table).read(&assign, nullptr, line);
  return lines;
}

std::vector<std::uint32_t> columns_of(unsigned minor, const std::vector<Instruction>& code,
                                      std::string_view table) {
  std::vector<std::uint32_t> columns(code.size(), 0);
  Assigner assign(code, columns);
  if (minor >= 11) Locations(table).read(nullptr, &assign, 0);
  return columns;
}

}  // namespace lotus::analyzer::controlflow
