#include "answers/controlflow/exception_table.hpp"

#include <cstdint>

namespace lotus::analyzer::controlflow {
namespace {

constexpr std::uint8_t kBegins = 0x80, kMore = 0x40, kBits = 6;
constexpr std::uint64_t kUnit = 2;                       // bytes
constexpr std::uint64_t kMost = std::uint64_t{1} << 32;  // of a code's units

class Reader {
 public:
  explicit Reader(std::string_view table) : table_(table) {}

  bool done() const { return at_ == table_.size(); }
  bool begins() const { return !done() && (byte() & kBegins) != 0; }
  // The most significant bits first.
  std::optional<std::uint64_t> number() {
    std::uint64_t value = 0;
    while (!done() && value < kMost) {
      const std::uint8_t one = byte();
      ++at_;
      value = value << kBits | (one & (kMore - 1));
      if ((one & kMore) == 0) return value;
    }
    return std::nullopt;
  }

 private:
  std::uint8_t byte() const { return static_cast<std::uint8_t>(table_[at_]); }

  std::string_view table_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<std::vector<Guarded>> exceptions_of(const std::vector<Instruction>& code,
                                                  std::string_view table) {
  std::vector<Guarded> all;
  Reader reader(table);
  while (!reader.done()) {
    if (!reader.begins()) return std::nullopt;
    const auto start = reader.number(), length = reader.number(), target = reader.number();
    const auto depth = reader.number();
    if (!start || !length || !target || !depth || code.empty()) return std::nullopt;
    const std::uint64_t end = kUnit * (*start + *length);
    Guarded one;
    one.first = instruction_at(code, kUnit * *start);
    one.end = end == code.back().end ? code.size() : instruction_at(code, end);
    one.handler = instruction_at(code, kUnit * *target);
    for (const std::size_t at : {one.first, one.end, one.handler})
      if (at == Instruction::kNone) return std::nullopt;
    if (one.first > one.end || (!all.empty() && one.first < all.back().end)) return std::nullopt;
    all.push_back(one);
  }
  return all;
}

}  // namespace lotus::analyzer::controlflow
