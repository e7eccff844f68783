// A region as it was recorded: one call of the function that LOTUS_REGION names, or a training step. Its
// operators, and the calls of Python functions, each with what happened in it in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reading/trace/catalog.hpp"

namespace lotus::analyzer::controlflow {

struct Operand {
  std::uint64_t data = 0;    // address of its storage
  std::uint64_t offset = 0;  // in it, bytes
  std::uint64_t position = 0;
  bool result = false;
};

// An allocation or release by PyTorch's allocator.
struct Change {
  std::uint64_t address = 0;
  bool made = false;
  std::size_t before = 0;  // operands of the region that were recorded by then
};

struct Operator {
  std::uint64_t hook = 0;            // see Process::hooks
  std::uint64_t begin = 0, end = 0;  // ticks
  std::uint64_t place = 0;
  std::uint64_t nested = 0;         // operators that it called, and they in turn
  std::size_t first = 0, last = 0;  // its operands among Region::operands
  std::size_t activation = 0;       // in which it ran
};

struct Event {
  bool is_call = false;
  std::uint64_t offset = kNoOffset;  // of the instruction in the activation's code
  std::size_t index = 0;             // of the operator or the activation
  std::uint64_t begin = 0, end = 0;  // ticks; of a call: of this stretch of it

  static constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};  // not known
};

// A call of a Python function. A generator's has several stretches of time.
struct Activation {
  struct Stretch {
    std::uint64_t begin = 0, end = 0;  // ticks
    std::size_t first = 0;             // of its events
  };
  std::uint64_t code = 0;
  std::size_t caller = kNobody;  // nobody: the region's outermost ones
  bool inferred = false;         // its call was not seen: it stands on the way to an operator
  bool before = false;           // it began before the region did, or may have
  bool ended = false;
  std::vector<Stretch> stretches;
  std::vector<Event> events;

  static constexpr std::size_t kNobody = ~std::size_t{0};
};

struct Region {
  const Process* process = nullptr;
  double ns_per_tick = 1;
  bool is_step = false;
  std::uint64_t number = 0;
  std::uint64_t begin = 0, end = 0;     // ticks
  std::optional<std::uint64_t> cpu_ns;  // that the thread computed
  std::uint64_t cost = 0;               // ticks that recording it took, estimated; 0: not known
  bool ended = false,
       cut_short = false;      // cut short: it had more records than there was room for, or some are lost
  bool calls_missing = false;  // of Python functions: counts are lower bounds
  bool only_timed = false;  // nothing inside of it was recorded, so that its time is that without recording
  bool calls_seen = false;  // any of them was recorded
  std::vector<Operator> operators;
  std::vector<Operand> operands;
  std::vector<Change> changes;
  std::vector<Activation> activations;  // in the order in which they began

  bool is_whole() const { return ended && !cut_short && !only_timed; }
};

}  // namespace lotus::analyzer::controlflow
