// One training step as what it does to memory: the operators in the order in which they ran, and the storages
// that they use. `memory` tells of it, `memory-plan` plans for it.
//
// A storage is a block of memory with its own address; views of a tensor share one. Addresses come again
// after a release: each time it is another storage.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lotus::analyzer::memory {

inline constexpr std::uint64_t kPage = 4096;  // bytes; a storage takes whole pages

// The pages that a block takes; and the bytes of these.
constexpr std::uint64_t pages_of(std::uint64_t bytes) { return bytes / kPage + (bytes % kPage != 0); }
constexpr std::uint64_t whole_pages(std::uint64_t bytes) { return pages_of(bytes) * kPage; }

enum class Phase : std::uint8_t { forward, backward, optimizer };

// What an operator does with one storage; neither: it only makes a view of it.
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
  std::uint64_t forward = 0;      // backward: that of the operator whose gradients it computes; 0: not known
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
  // The operator that made it; nullopt: none of the step's did.
  std::optional<std::size_t> maker = std::nullopt;
  std::uint64_t place = 0;        // the Python line that made it; 0: not known
  std::uint64_t forward = 0;      // the operator's that made it
  std::vector<std::size_t> uses;  // operators that have it as an operand, ascending
};

struct Step {
  std::uint64_t number = 0;  // of the run, from 0
  std::vector<Operator> operators;
  std::vector<Storage> storages;  // those that an operator uses, and those that were allocated in the step
};

// What an operator does with a storage that it uses.
inline const Operand& operand_of(const Operator& op, std::size_t storage) {
  const auto is_it = [&](const Operand& operand) { return operand.storage == storage; };
  return *std::find_if(op.operands.begin(), op.operands.end(), is_it);
}

// Whether a storage is there from before the step until after it: a parameter, a state of the optimizer.
constexpr bool persistent(const Storage& storage) { return storage.older && storage.survives; }

// The least fast memory with which each operator finds all that it uses there, its workspace included, in
// whole pages; and the operator that needs it. nullopt: the step has no operators.
struct Floor {
  std::uint64_t bytes = 0;
  std::optional<std::size_t> op;
};
// `persistent_fast`: what is there before and after the step is there all the time, too.
Floor floor_of(const Step& step, bool persistent_fast = false);

// What to say where a step is asked for that is not there: "--step 9: no such step; there are 0 to 3, 120".
std::string no_such_step(std::uint64_t number, std::vector<std::uint64_t> there);

}  // namespace lotus::analyzer::memory
