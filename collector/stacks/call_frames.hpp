// Call frame information: how a function's caller is found from an address in it. Reads .eh_frame (DWARF 5,
// section 6.4, with the augmentations of the Linux Standard Base) of any machine on any machine, in time and
// memory that the size of an entry bounds. Neither libunwind nor libdw can be used: the former reads the
// tables of its own machine only and, before 1.8, none with pointer authentication; the latter allocates as
// much as a damaged table says.
#pragma once

#include <array>
#include <cstdint>
#include <lotus/machine.hpp>
#include <optional>
#include <span>

#include "stacks/elf_file.hpp"

namespace lotus::collector {

// What is said of a register, or of the CFA, at one address.
struct CallFrameRule {
  enum class Is : std::uint8_t {
    same,        // its value has not changed
    undefined,   // … is lost; of the return address: there is no caller
    at_cfa,      // saved at the CFA plus `offset`
    sum,         // the register `number` plus `offset`; of a register: the CFA plus `offset`
    saved_at,    // saved at the address that `expression` gives
    expression,  // what `expression` gives
  };
  Is is = Is::same;
  std::uint64_t number = 0;
  std::int64_t offset = 0;
  std::span<const std::uint8_t> expression;  // a view of the file
};

struct CallFrameRow {
  CallFrameRule cfa;
  std::array<CallFrameRule, kMaxRegisters> registers;  // by DWARF's numbers
  std::uint64_t return_address = 0;                    // the number of the register that holds it
};

struct FunctionExtent {
  std::uint64_t begin, end;  // virtual addresses
};
// The function that has an entry around a virtual address of `file`; empty if there is none.
std::optional<FunctionExtent> call_frame_function(const ElfFile& file, std::uint64_t address);

// The row at a virtual address of `file`; empty if there is none, or it cannot be understood. Adds the bytes
// that were read to `read`.
std::optional<CallFrameRow> call_frame_row(const ElfFile& file, std::uint64_t address, std::uint64_t& read);

}  // namespace lotus::collector
