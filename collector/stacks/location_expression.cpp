#include "location_expression.hpp"

#include <array>

#include "stacks/dwarf_reader.hpp"

namespace lotus::collector {
namespace {

constexpr std::size_t kDepth = 16;

std::int64_t wrapped(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::uint64_t bits(std::int64_t number) { return static_cast<std::uint64_t>(number); }
Term constant(std::int64_t number) { return {Term::Is::constant, 0, 0, number}; }

class Evaluation {
 public:
  Evaluation(const Registers& registers, std::uint64_t program_counter)
      : registers_(registers), program_counter_(program_counter) {}

  void push(const Term& term) {
    ok_ = ok_ && size_ < kDepth;
    if (ok_) stack_[size_++] = term;
  }
  Term pop() {
    ok_ = ok_ && size_ > 0;
    return ok_ ? stack_[--size_] : Term{};
  }
  bool ok() const { return ok_; }

  void step(DwarfReader& reader) {
    const auto code = reader.fixed<std::uint8_t>();
    if (code >= 0x30 && code <= 0x4f) return push(constant(code - 0x30));
    if (code >= 0x70 && code <= 0x8f) return push(register_plus(code - 0x70u, reader.signed_number()));
    if (push_number(code, reader) || move(code, reader)) return;
    if (code == 0x06) return push(load(pop()));
    if (code == 0x23) return push(add(pop(), constant(wrapped(reader.unsigned_number()))));  // plus_uconst
    if (code == 0x96) return;                                                                // nop
    ok_ = ok_ && is_binary(code);
    const Term right = pop();
    push(combine(code, pop(), right));
  }

 private:
  Term register_plus(std::uint64_t number, std::int64_t offset) const {
    if (number == registers_.program_counter) return constant(wrapped(program_counter_ + bits(offset)));
    if (number >= registers_.count) return {};
    return {Term::Is::sum, static_cast<std::uint8_t>(number), 0, offset};
  }

  bool push_number(std::uint8_t code, DwarfReader& reader) {
    switch (code) {
      case 0x08:
        return push(constant(reader.fixed<std::uint8_t>())), true;
      case 0x09:
        return push(constant(reader.fixed<std::int8_t>())), true;
      case 0x0a:
        return push(constant(reader.fixed<std::uint16_t>())), true;
      case 0x0b:
        return push(constant(reader.fixed<std::int16_t>())), true;
      case 0x0c:
        return push(constant(reader.fixed<std::uint32_t>())), true;
      case 0x0d:
        return push(constant(reader.fixed<std::int32_t>())), true;
      case 0x0e:
      case 0x0f:
        return push(constant(reader.fixed<std::int64_t>())), true;
      case 0x10:
        return push(constant(wrapped(reader.unsigned_number()))), true;
      case 0x11:
        return push(constant(reader.signed_number())), true;
      case 0x92: {  // bregx
        const std::uint64_t number = reader.unsigned_number();
        return push(register_plus(number, reader.signed_number())), true;
      }
      default:
        return false;
    }
  }

  bool move(std::uint8_t code, DwarfReader& reader) {
    switch (code) {
      case 0x12:
        return copy(0), true;
      case 0x13:
        return pop(), true;
      case 0x14:
        return copy(1), true;
      case 0x15:
        return copy(reader.fixed<std::uint8_t>()), true;
      case 0x16: {
        const Term upper = pop(), lower = pop();
        return push(upper), push(lower), true;
      }
      default:
        return false;
    }
  }

  void copy(std::size_t depth) {
    ok_ = ok_ && depth < size_;
    if (ok_) push(stack_[size_ - 1 - depth]);
  }

  // Of those that compute: jumps and what takes one operand are not among them.
  static bool is_binary(std::uint8_t code) {
    return code >= 0x1a && code <= 0x2e && code != 0x1f && code != 0x20 && code != 0x28;
  }

  static Term load(const Term& from) {
    if (from.is != Term::Is::sum) return {};
    return {Term::Is::loaded, from.base, from.offset, 0};
  }

  static Term add(Term term, const Term& other) {
    if (term.is == Term::Is::constant && other.is != Term::Is::constant) return add(other, term);
    if (other.is != Term::Is::constant) return {};
    term.offset = wrapped(bits(term.offset) + bits(other.offset));
    return term;
  }

  static Term combine(std::uint8_t code, const Term& left, const Term& right) {
    if (code == 0x22) return add(left, right);
    if (code == 0x1c && right.is == Term::Is::constant)
      return add(left, constant(wrapped(-bits(right.offset))));
    if (left.is != Term::Is::constant || right.is != Term::Is::constant) return {};
    const std::int64_t a = left.offset, b = right.offset;
    switch (code) {
      case 0x1a:
        return constant(a & b);
      case 0x1e:
        return constant(wrapped(bits(a) * bits(b)));
      case 0x21:
        return constant(a | b);
      case 0x24:
        return constant(b >= 0 && b < 64 ? wrapped(bits(a) << b) : 0);
      case 0x25:
        return constant(b >= 0 && b < 64 ? wrapped(bits(a) >> b) : 0);
      case 0x27:
        return constant(a ^ b);
      case 0x29:
        return constant(a == b ? 1 : 0);
      case 0x2a:
        return constant(a >= b ? 1 : 0);
      case 0x2b:
        return constant(a > b ? 1 : 0);
      case 0x2c:
        return constant(a <= b ? 1 : 0);
      case 0x2d:
        return constant(a < b ? 1 : 0);
      case 0x2e:
        return constant(a != b ? 1 : 0);
      default:
        return {};
    }
  }

  const Registers& registers_;
  std::uint64_t program_counter_;
  std::array<Term, kDepth> stack_;
  std::size_t size_ = 0;
  bool ok_ = true;
};

}  // namespace

Term evaluate(std::span<const std::uint8_t> expression, const Term& start, const Registers& registers,
              std::uint64_t program_counter) {
  Evaluation evaluation(registers, program_counter);
  if (start.is != Term::Is::unknown) evaluation.push(start);
  DwarfReader reader(expression);
  while (evaluation.ok() && reader.whole() && !reader.at_end()) evaluation.step(reader);
  const Term result = evaluation.pop();
  return evaluation.ok() && reader.whole() ? result : Term{};
}

}  // namespace lotus::collector
