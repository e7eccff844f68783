// A snapshot as a traced process wrote it, copied and checked (lotus/snapshot.hpp).
#pragma once

#include <array>
#include <lotus/snapshot.hpp>
#include <optional>
#include <span>
#include <vector>

#include "packer.hpp"

namespace lotus::collector {

struct Snapshot {
  SnapshotHeader header{};
  Registers numbers;  // of header.machine
  std::array<std::uint64_t, kMaxRegisters> registers{};
  std::vector<PythonFrame> python;      // innermost first, addresses ascending
  std::span<const std::uint8_t> stack;  // bytes from header.stack_start upwards; a view of the payload
  std::vector<SnapshotCount> counts;

  std::uint64_t stack_pointer() const { return registers[numbers.stack_pointer]; }
};

// The snapshot in `payload`; empty if its counts do not match its size. Python frames with impossible
// addresses are left out. Registers and stack are not checked: they may hold anything.
std::optional<Snapshot> parse_snapshot(Bytes payload);

}  // namespace lotus::collector
