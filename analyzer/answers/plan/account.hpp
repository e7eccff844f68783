// What a run of a plan comes to, in the terms of AutoTM's results, in bytes and seconds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "answers/plan/planning.hpp"

namespace lotus::analyzer::memory_plan {

struct Operands {
  std::uint64_t count = 0, fast_count = 0, bytes = 0, fast_bytes = 0;
};

// Of an operator: how many of its inputs and outputs there are, and how many of these lie in slow memory.
struct Config {
  std::size_t inputs = 0, slow_inputs = 0, outputs = 0, slow_outputs = 0;

  bool operator<(const Config& other) const {
    return std::tie(inputs, slow_inputs, outputs, slow_outputs) <
           std::tie(other.inputs, other.slow_inputs, other.outputs, other.slow_outputs);
  }
};

struct Account {
  Operands inputs, outputs;                             // of all operators
  std::map<Config, std::uint64_t> configs;              // operators of each kind
  std::uint64_t to_slow = 0, to_fast = 0, dropped = 0;  // moves; dropped: nothing is copied
  std::uint64_t bytes_to_slow = 0, bytes_to_fast = 0;   // whole pages, as all that follows
  std::uint64_t fast_peak = 0, slow_peak = 0;
};

Account account_of(const Planned& planned, const Run& run);

// A storage that a plan moves or leaves in slow memory.
struct Decision {
  std::size_t storage = 0;
  bool starts_fast = false;
  std::vector<Move> moves;                   // in order; none: it stays in slow memory
  std::optional<std::size_t> last_fast_use;  // the last operator before it first leaves fast memory, and the
  std::optional<std::size_t> next_use;       // next one after that
  double seconds = 0;                        // what this costs, beside all in fast memory
};

// The largest first.
std::vector<Decision> decisions_of(const Planned& planned, const Run& run);

// Storages by size: of how many bytes there are how many.
std::map<std::uint64_t, std::uint64_t> sizes_of(const memory::Step& step);

// Bytes of what comes from before the step and does not survive it, or the other way round: batches, losses.
std::uint64_t io_bytes(const memory::Step& step);

}  // namespace lotus::analyzer::memory_plan
