// DWARF expressions in call frame information, as far as they add: what else they compute is not known.
#pragma once

#include <cstdint>
#include <lotus/machine.hpp>
#include <span>

namespace lotus::collector {

// What an expression gives, seen from an address of code whose registers are not known.
struct Term {
  enum class Is : std::uint8_t {
    unknown,
    constant,  // `offset`
    sum,       // the register `base` (kMaxRegisters: the CFA) plus `offset`
    loaded,    // the word at the register `base` plus `inner`, plus `offset`
  };
  static constexpr std::uint8_t kCfa = kMaxRegisters;
  Is is = Is::unknown;
  std::uint8_t base = 0;
  std::int64_t inner = 0;
  std::int64_t offset = 0;
};

// `start`: what is on the expression's stack before it; unknown: nothing. `program_counter`: the value of the
// machine's program counter.
Term evaluate(std::span<const std::uint8_t> expression, const Term& start, const Registers& registers,
              std::uint64_t program_counter);

}  // namespace lotus::collector
