// CPython's bytecode as far as control flow needs it: which instruction can be followed by which.
//
// The bytecode is co_code's: without specialised instructions, and with inline caches of zeros (from 3.11 on,
// where 0 is no instruction).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace lotus::analyzer::controlflow {

inline constexpr unsigned kOldestMinor = 9, kNewestMinor = 15;  // of Python 3, whose instructions are known

// How an instruction goes on.
enum class Flow : std::uint8_t {
  next,           // with the next one
  nop,            // the same, and it does nothing: the compiler left it for its line, or for counters
  extended,       // EXTENDED_ARG; never in what decoded() returns
  jump_forward,   // at its target
  jump_backward,  // …
  jump_absolute,
  test_forward,  // at its target or the next one, by a value
  test_backward,
  test_absolute,
  for_iter,      // with the next one, or, at the iterator's end, at its target
  send,          // the same, of what a coroutine or generator awaits
  handler_test,  // at its target or the next one, by the type of an exception
  builtin_test,  // the same, in what the compiler made of any(), all(), tuple() and the like
  setup,         // with the next one; exceptions go to its target
  stop,          // nowhere: it returns or raises
};

constexpr bool is_test(Flow flow) {
  return flow == Flow::test_forward || flow == Flow::test_backward || flow == Flow::test_absolute;
}

struct Instruction {
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::uint32_t offset = 0, end = 0;  // bytes; with its EXTENDED_ARGs before and its caches behind
  Flow flow = Flow::next;
  std::size_t target = kNone;  // index of an instruction
};

// In the order of offsets. Nothing: bytes that cannot be a code's, or of a Python whose instructions are not
// known. `minor`: of Python 3.
std::optional<std::vector<Instruction>> decoded(unsigned minor, std::string_view bytecode);

// The instruction that an offset in bytes lies in; kNone: in none.
std::size_t instruction_at(const std::vector<Instruction>& code, std::uint64_t offset);

}  // namespace lotus::analyzer::controlflow
