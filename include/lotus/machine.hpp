// The processor architectures of traced programs, and their registers by DWARF's numbers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lotus {

// By ELF's numbers (e_machine).
enum class Machine : std::uint32_t { none = 0, x86_64 = 62, aarch64 = 183 };

struct Registers {
  Machine machine = Machine::none;
  const char* name = "";  // as uname() says
  std::uint32_t count = 0;
  std::uint32_t stack_pointer = 0;
  std::uint32_t program_counter = 0;
};

// x86-64: rax rdx rcx rbx rsi rdi rbp rsp r8 … r15, return address. aarch64: x0 … x30, sp, pc.
inline constexpr Registers kRegistersOf[] = {{Machine::x86_64, "x86_64", 17, 7, 16},
                                             {Machine::aarch64, "aarch64", 33, 31, 32}};
inline constexpr std::size_t kMaxRegisters = 33;

// Of a machine that is not known: none.
constexpr Registers registers_of(Machine machine) {
  for (const Registers& registers : kRegistersOf)
    if (registers.machine == machine) return registers;
  return {};
}

// Of the machine that this is compiled for.
#if defined(__x86_64__)
inline constexpr Registers kOwnRegisters = registers_of(Machine::x86_64);
#elif defined(__aarch64__)
inline constexpr Registers kOwnRegisters = registers_of(Machine::aarch64);
#else
inline constexpr Registers kOwnRegisters{};
#endif

}  // namespace lotus
