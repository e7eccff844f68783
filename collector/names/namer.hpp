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
  // Of every location of `stacks` that has no name now. `stacks` and `log` outlive this.
  Namer(Stacks& stacks, Log& log);

  // Names locations for about this long, one binary after the other, so that the symbols of one are in memory
  // at a time; reading them is not interrupted. Shows on a terminal how far it is. True: all have names.
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
