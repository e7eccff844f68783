// Unwind rules at addresses of this program. Their unwind tables are written by hand below, so the expected
// rules are known.
#include "stacks/unwind_rules.hpp"

#include <doctest/doctest.h>

using namespace lotus;
using namespace lotus::collector;

// Bytes in .cfi_escape: 0x0f and 0x10 set the CFA and a register's place to an expression, whose length
// follows. In expressions: 0x76 rbp + offset, 0x77 rsp + offset, 0x06 deref, 0x09 constant, 0x1a and, 0x12
// dup, 0x22 plus.
asm(R"(
.pushsection .text
by_stack_pointer:
  .cfi_startproc
  push %rbx
  .cfi_def_cfa_offset 16
  .cfi_offset %rbx, -16
at_stack_pointer: nop
  ret
  .cfi_endproc
by_frame_pointer:
  .cfi_startproc
  .cfi_def_cfa %rbp, 16
  .cfi_offset %rbp, -16
  .cfi_offset %r12, -24
at_frame_pointer: nop
  ret
  .cfi_endproc
realigned:
  .cfi_startproc
  .cfi_escape 0x0f, 3, 0x76, 0x78, 0x06
  .cfi_escape 0x10, 6, 2, 0x76, 0
at_realigned: nop
  ret
  .cfi_endproc
masked:
  .cfi_startproc
  .cfi_escape 0x0f, 5, 0x77, 0x18, 0x09, 0xf0, 0x1a
at_masked: nop
  ret
  .cfi_endproc
doubled:
  .cfi_startproc
  .cfi_escape 0x0f, 4, 0x77, 0x08, 0x12, 0x22
at_doubled: nop
  ret
  .cfi_endproc
endless:
  .cfi_startproc
  .cfi_escape 0x0f, 5, 0x77, 0x08, 0x2f, 0xfd, 0xff
at_endless: nop
  ret
  .cfi_endproc
divided:
  .cfi_startproc
  .cfi_escape 0x0f, 12, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x09, 0xff, 0x1b
at_divided: nop
  ret
  .cfi_endproc
far_apart:
  .cfi_startproc
  .cfi_escape 0x0f, 6, 0x77, 0xf0, 0xff, 0xff, 0xff, 0x07
  .cfi_escape 0x10, 3, 6, 0x77, 0x90, 0x80, 0x80, 0x80, 0x78
  .cfi_escape 0x10, 12, 7, 0x77, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01
at_far_apart: nop
  ret
  .cfi_endproc
outermost:
  .cfi_startproc
  .cfi_undefined %rip
at_outermost: nop
  ret
  .cfi_endproc
returned_in_register:
  .cfi_startproc
  .cfi_def_cfa %rsp, 0
  .cfi_register %rip, %rcx
at_returned_in_register: nop
  ret
  .cfi_endproc
without_table:
at_without_table: nop
  ret
at_before_trampoline: nop
at_trampoline: mov $15, %rax
at_within_trampoline: syscall
.popsection
)");

#define PLACE(name) extern "C" const char at_##name
PLACE(stack_pointer);
PLACE(frame_pointer);
PLACE(realigned);
PLACE(masked);
PLACE(doubled);
PLACE(endless);
PLACE(divided);
PLACE(far_apart);
PLACE(outermost);
PLACE(returned_in_register);
PLACE(without_table);
PLACE(before_trampoline);
PLACE(trampoline);
PLACE(within_trampoline);

namespace {

using Place = UnwindRule::Place;
using Kind = UnwindRule::Kind;
constexpr std::uint8_t kRbx = 0, kRbp = 1, kR12 = 2;  // in kept_registers()
constexpr std::uint8_t kRbpNumber = 6;
constexpr Place kSame{UnwindRule::kSame, 0};

struct Rules {
  Binaries binaries;
  UnwindRules rules{binaries};
  BinaryId program;

  Rules() {
    const auto file = ElfFile::open("/proc/self/exe");
    REQUIRE(file);
    program = binaries.add("/proc/self/exe", file->build_id(), 0);
  }
  // The program is linked to a fixed address.
  UnwindRule at(const char& place) {
    rules.begin_snapshot();
    return rules.at(common_address(program, reinterpret_cast<std::uintptr_t>(&place))).rule;
  }
};

}  // namespace

TEST_CASE("a frame that is found by the stack pointer") {
  const UnwindRule rule = Rules().at(at_stack_pointer);
  CHECK(rule.kind == Kind::caller);
  CHECK(rule.cfa == Place{kOwnRegisters.stack_pointer, 16});
  CHECK_FALSE(rule.cfa_is_loaded);
  CHECK(rule.return_address == Place{UnwindRule::kCfa, -8});
  CHECK(rule.kept[kRbx] == Place{UnwindRule::kCfa, -16});
  CHECK(rule.kept[kRbp] == kSame);
}

TEST_CASE("a frame that is found by the frame pointer") {
  const UnwindRule rule = Rules().at(at_frame_pointer);
  CHECK(rule.cfa == Place{kRbpNumber, 16});
  CHECK(rule.return_address == Place{UnwindRule::kCfa, -8});
  CHECK(rule.kept[kRbp] == Place{UnwindRule::kCfa, -16});
  CHECK(rule.kept[kR12] == Place{UnwindRule::kCfa, -24});
  CHECK(rule.kept[kRbx] == kSame);
}

TEST_CASE("a frame whose stack was realigned: where it began stands in it") {
  const UnwindRule rule = Rules().at(at_realigned);
  CHECK(rule.kind == Kind::caller);
  CHECK(rule.cfa_is_loaded);
  CHECK(rule.cfa == Place{kRbpNumber, -8});
  CHECK(rule.cfa_offset == 0);
  CHECK(rule.return_address == Place{UnwindRule::kCfa, -8});
  CHECK(rule.kept[kRbp] == Place{kRbpNumber, 0});
}

TEST_CASE("what is worked out otherwise than by adding is not taken for a sum") {
  Rules rules;
  CHECK(rules.at(at_masked).kind == Kind::none);
  CHECK(rules.at(at_doubled).kind == Kind::none);
  CHECK(rules.at(at_returned_in_register).kind == Kind::none);
}

TEST_CASE("an expression that does not end, or cannot be worked out") {
  Rules rules;
  CHECK(rules.at(at_endless).kind == Kind::none);
  CHECK(rules.at(at_divided).kind == Kind::none);
}

TEST_CASE("a place that is further away than a rule can say") {
  const UnwindRule rule = Rules().at(at_far_apart);
  CHECK(rule.kind == Kind::caller);
  CHECK(rule.kept[kRbx] == Place{kOwnRegisters.stack_pointer, -0x7ffffff0});
  CHECK(rule.kept[kR12] == Place{});
  CHECK(rule.kept[kRbp] == kSame);
}

TEST_CASE("the new rules of one snapshot are worked out up to a bound") {
  Rules rules;
  const std::uint64_t wanted =
      common_address(rules.program, reinterpret_cast<std::uintptr_t>(&at_stack_pointer));
  rules.rules.begin_snapshot();
  for (std::uint64_t i = 1; i < 30'000; ++i) rules.rules.at(wanted - i);
  CHECK(rules.rules.at(wanted).rule.kind == Kind::none);
  CHECK(rules.at(at_stack_pointer).kind == Kind::caller);
}

TEST_CASE("no caller, and nothing said") {
  Rules rules;
  CHECK(rules.at(at_outermost).kind == Kind::last);
  CHECK(rules.at(at_without_table).kind == Kind::none);
}

TEST_CASE("who stands before a trampoline of signals, or begins it, was interrupted") {
  Rules rules;
  CHECK(rules.at(at_before_trampoline).interrupted);
  CHECK(rules.at(at_trampoline).interrupted);
  CHECK_FALSE(rules.at(at_within_trampoline).interrupted);
  CHECK_FALSE(rules.at(at_stack_pointer).interrupted);
}

TEST_CASE("a location is kept with its address") {
  Rules rules;
  const std::uint64_t address =
      common_address(rules.program, reinterpret_cast<std::uintptr_t>(&at_stack_pointer));
  rules.rules.keep_location(address, 7);
  rules.rules.begin_snapshot();
  CHECK(rules.rules.at(address).location == 0);
  rules.rules.keep_location(address, 7);
  CHECK(rules.rules.at(address).location == 7);
}

TEST_CASE("more places than are remembered") {
  Rules rules;
  const UnwindRule first = rules.at(at_stack_pointer);
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    rules.rules.begin_snapshot();
    rules.rules.at(common_address(rules.program, i));
  }
  CHECK(rules.at(at_stack_pointer) == first);
}
