// Kills the collector at an exact point: when it enters or leaves a system call that writes a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lotus::test {

enum class KilledAt : std::uint8_t {
  entry,  // before the write
  exit,   // the bytes are in the file, and the collector has done nothing further
};

// Runs the program with `arguments` and kills it (SIGKILL) at its `nth` pwrite, from 1. Returns whether it
// was killed, or had ended before. Empty: its system calls cannot be traced here.
std::optional<bool> kill_at_write(const std::vector<std::string>& arguments, unsigned nth, KilledAt when);

}  // namespace lotus::test
