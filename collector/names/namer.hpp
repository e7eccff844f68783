// Gives the sampled locations of a trace their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "log.hpp"
#include "names/symbols.hpp"
#include "stacks/process_stacks.hpp"

namespace lotus::collector {

class Namer {
 public:
  // For every location of `stacks` that has no name now. `stacks` and `log` outlive this.
  Namer(Stacks& stacks, Log& log);

  // Names locations for about this long, binary by binary, so that the symbols of only one are in memory.
  // Reading the symbols is not interrupted. Shows its progress on a terminal. True: all have names.
  bool name_for(std::uint64_t ns);

 private:
  void name(std::uint64_t address);

  Stacks& stacks_;
  Log& log_;
  std::vector<std::uint64_t> addresses_;
  std::size_t next_ = 0;
  BinaryId current_ = 0;
  std::optional<Symbols> symbols_;  // of the current binary
};

// Names every location that has none yet.
void name_locations(Stacks& stacks, Log& log);

}  // namespace lotus::collector
