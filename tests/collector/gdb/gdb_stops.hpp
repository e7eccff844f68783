// What gdb saw at each stop of a program that works in native code (stops.py, work.py).
#pragma once

#include <string>
#include <vector>

#include "stacks/modules.hpp"
#include "stacks/snapshot.hpp"

namespace lotus::test {

struct GdbStop {
  collector::Snapshot snapshot;  // its stack is a view of `stack`
  std::vector<std::uint8_t> stack;
  std::vector<std::uint64_t> pcs;  // of the process, innermost first; outer ones are return addresses

  struct Mapping {
    std::uint64_t start, end, offset;
    std::string path;
  };
  std::vector<Mapping> mappings;  // executable ones of files

  // The mappings as modules of a process.
  void define(collector::Modules& modules) const;
};

// Runs the program under gdb. Empty: it cannot be debugged here, `said` is why.
std::vector<GdbStop> run_under_gdb(std::string& said);

}  // namespace lotus::test
