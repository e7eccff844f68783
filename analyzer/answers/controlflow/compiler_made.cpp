// What CPython's compiler makes of a source beyond its loops and tests: jumps for `any(… for …)` and the
// like, and tests the other way round.
#include <algorithm>
#include <iterator>

#include "answers/controlflow/code_flow.hpp"

namespace lotus::analyzer::controlflow {
namespace {

constexpr unsigned kFirstInlining = 14;  // of Python 3
struct Inlining {
  std::uint8_t copy, common_constant, is_op, to_bool, list_append, set_add;
};
constexpr Inlining kInlining[] = {{59, 81, 74, 39, 78, 107}, {57, 80, 73, 37, 77, 106}};
static_assert(std::size(kInlining) == kNewestMinor - kFirstInlining + 1);

// Arguments of LOAD_COMMON_CONSTANT: tuple, all, any, list, set.
constexpr std::uint8_t kFirstCallable = 2, kLastCallable = 6;

// In 3.12 and later there is no test that jumps back.
constexpr unsigned kFirstInverting = 12;

}  // namespace

// From 3.14 on, `any(… for …)` asks whether `any` is Python's own, and then goes through the generator in a
// loop of the caller's code; in other versions any() does. Neither that question nor that loop with its test
// is the source's; the generator has the source's loop.
void CodeFlow::find_inlined(unsigned minor, std::string_view bytecode) {
  if (minor < kFirstInlining) return;
  const Inlining& opcodes = kInlining[minor - kFirstInlining];
  const auto byte = [&](std::size_t i, std::size_t at) {
    return static_cast<std::uint8_t>(bytecode[code_[i].offset + at]);
  };
  const auto is_callable = [&](std::size_t i) {
    return byte(i, 0) == opcodes.common_constant && kFirstCallable <= byte(i, 1) &&
           byte(i, 1) <= kLastCallable;
  };
  for (std::size_t i = 0; i < code_.size(); ++i) {
    if (is_test(code_[i].flow) && i >= 3 && byte(i - 1, 0) == opcodes.is_op && is_callable(i - 2) &&
        byte(i - 3, 0) == opcodes.copy)
      code_[i].flow = Flow::builtin_test;
    // A loop of the source stores what it gets.
    if (code_[i].flow != Flow::for_iter || i + 2 >= code_.size()) continue;
    const std::uint8_t body = byte(i + 1, 0);
    if (body != opcodes.to_bool && body != opcodes.list_append && body != opcodes.set_add) continue;
    inlined_.insert(i);
    if (is_test(code_[i + 2].flow)) code_[i + 2].flow = Flow::builtin_test;
  }
}

// A test with which an iteration would begin again becomes the opposite test, which jumps over a jump back:
// of the same place in the source as the test, other than that of `continue`.
void CodeFlow::find_inverted(unsigned minor, std::string_view table) {
  if (minor < kFirstInverting) return;
  const std::vector<std::uint32_t> columns = columns_of(minor, code_, table);
  for (std::size_t i = 0; i < code_.size(); ++i) {
    if (!is_test(code_[i].flow) || code_[i].target == kNone || code_[i].target < i + 2 || columns[i] == 0)
      continue;
    const std::size_t jump = code_[i].target - 1;
    if (code_[jump].flow != Flow::jump_backward) continue;
    // Up to the jump there is at most NOT_TAKEN.
    const auto same = [&](std::size_t at) { return lines_[at] == lines_[i] && columns[at] == columns[i]; };
    if (jump - i <= 2 && same(jump)) inverted_.insert(i);
  }
}

// Of `a or b` the first test jumps to the same place to which the second one leads: to what stands under the
// `if`, as the source has it.
void CodeFlow::find_alternatives() {
  const auto same_statement = [&](std::size_t a, std::size_t b) {
    return is_test(code_[b].flow) && code_[a].target == code_[b].target && lines_[a] == lines_[b];
  };
  for (std::size_t i = code_.size(); i-- > 0;) {
    if (!is_test(code_[i].flow) || code_[i].target == kNone || code_[i].target > code_.size() ||
        code_[i].target < i + 2)
      continue;
    std::size_t last = code_[i].target - 1;
    while (last > i && code_[last].flow == Flow::nop) --last;
    // A test that goes back ends a loop that stands last under the `if`.
    bool other_way =
        last > i && is_test(code_[last].flow) && code_[last].target > last && !inverted_.contains(last);
    for (std::size_t next = i + 1; next < code_[i].target && !other_way; ++next)
      other_way = same_statement(i, next) && inverted_.contains(next);
    if (other_way) inverted_.insert(i);
  }
}

}  // namespace lotus::analyzer::controlflow
