// One training step as what it does to memory: the operators in the order in which they ran, and the storages
// that they use. `memory` tells of it, `memory-plan` plans for it.
//
// A storage is a block of memory with its own address; views of a tensor share one. Addresses come again
// after a release: each time it is another storage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lotus::analyzer::memory {

enum class Phase : std::uint8_t { forward, backward, optimizer };

// What an operator does with one storage.
struct Operand {
  std::size_t storage = 0;  // index into Step::storages
  bool read = false;        // an input
  bool written = false;     // an output; of what is changed in place, both
};

struct Operator {
  std::string name;  // as PyTorch's: "aten::mm"
  Phase phase = Phase::forward;
  double seconds = 0;             // its duration, Lotus's own part left out
  std::uint64_t place = 0;        // the Python line that called it; 0: not known
  std::vector<Operand> operands;  // each storage once
  std::uint64_t workspace = 0;    // bytes: the most that storages born and released inside it took together
};

struct Storage {
  std::uint64_t bytes = 0;
  // It is live at operator k where born <= k < released. `born`: the operator that made it, or the next one
  // where none did; 0 where it is older. `released`: operators.size() where it was there at the step's end.
  std::size_t born = 0, released = 0;
  bool older = false;     // it was there when the step began: a parameter, a state of the optimizer, a batch
  bool survives = false;  // it was there when the step ended
  std::uint64_t place = 0;        // the Python line that made it; 0: not known
  std::vector<std::size_t> uses;  // operators that have it as an operand, ascending
};

struct Step {
  std::uint64_t number = 0;  // of the run, from 0
  std::vector<Operator> operators;
  std::vector<Storage> storages;  // those that an operator uses, and those that were allocated in the step
};

}  // namespace lotus::analyzer::memory
