// gdb's view of a program that works in native code (work.py), at each stop (stops.py).
#pragma once

#include <string>
#include <vector>

#include "stacks/modules.hpp"
#include "stacks/snapshot.hpp"

namespace lotus::test {

struct GdbStop {
  collector::Snapshot snapshot;  // its stack is a view of `stack`
  std::vector<std::uint8_t> stack;
  std::vector<std::uint64_t> pcs;  // in the process, innermost first; outer ones are return addresses

  struct Mapping {
    std::uint64_t start, end, offset;
    std::string path;
  };
  std::vector<Mapping> mappings;  // executable mappings of files

  // Defines the mappings as modules.
  void define(collector::Modules& modules) const;
};

// Runs the program under gdb. Empty if it cannot be debugged here; `said` then holds the reason.
std::vector<GdbStop> run_under_gdb(std::string& said);

}  // namespace lotus::test
