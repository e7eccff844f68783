// A step of training as it was recorded, and what follows from it: which storages lived when, and how much
// memory was in use at each moment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "answers/memory/step.hpp"
#include "reading/trace/catalog.hpp"

namespace lotus::analyzer::memory {

// What a storage is to training, by who made it and who uses it.
enum class Role : std::uint8_t {
  activation,       // made in the forward pass
  backward,         // made in the backward pass, for it alone
  gradient,         // made in the backward pass; the optimizer uses it, or it outlives the step
  optimizer,        // made in the optimizer's step
  batch,            // made while the loader was asked for a batch
  parameter,        // older; the forward pass computes with it and the optimizer changes it
  optimizer_state,  // older; the optimizer uses it, the forward pass does not: a gradient of an earlier step,
                    // too
  older,            // older; anything else that the step uses
  untouched,        // older; the step does not use it
};

// Beside each Step::storages: when it lived, in seconds since the step began, and whence it comes.
struct Life {
  double born_s = 0, released_s = 0;
  Role role = Role::older;
  std::string made_by;  // the operator; empty: none, or not known
  std::string form;     // "float32[64, 3, 224, 224]"; empty: not known
  std::uint64_t address = 0;
};

// A storage that one operator made and released, which no other one uses.
struct Temporary {
  std::uint64_t bytes = 0;
  std::size_t operator_index = 0;
  double born_s = 0, released_s = 0;
};

// What outlived an earlier recorded step, and this one neither uses nor releases.
struct Kept {
  std::uint64_t bytes = 0, place = 0, forward = 0;
  std::string made_by, form;
};

struct LivePoint {
  double seconds = 0;       // since the step began
  std::uint64_t bytes = 0;  // in use from then on
};

// What recording an operator with its storages takes, in ns; see bench/steps.
inline constexpr double kRecordedOperatorNs = 2000;

// Of a step that followed LOTUS_TRY's memory-plan: what the plan predicts, and what was copied for it.
// Seconds, bytes.
struct Followed {
  bool plan = false;                             // false: it followed none
  std::uint64_t plan_moves = 0, plan_freed = 0;  // freed: by how much the peak is less
  double plan_moving_s = 0;
  std::uint64_t moves = 0, moved_bytes = 0, late = 0;  // late: moves that took longer than the plan has it
  double moving_s = 0;
};

struct RecordedStep {
  const Process* process = nullptr;
  Step step;
  std::vector<Life> lives;  // beside step.storages
  std::vector<Temporary> temporaries;
  std::vector<Kept> kept;
  std::vector<double> begins_s, ends_s;  // beside step.operators
  std::uint64_t begin_ticks = 0;
  double seconds = 0;
  bool ended = false;       // false: the program was ended inside of it, or the trace
  bool incomplete = false;  // it had more records than there was room for, or some were lost
  // Bytes that the allocator had given out; after: if `ended`. Where that is not known, what the step was
  // seen to use of it.
  std::uint64_t live_before = 0, live_after = 0;
  bool live_known = true;
  // By how much more was in use at the end than what its thread made and released leaves: what other threads
  // did, which is not recorded. 0: no more than blocks are larger than was asked for; or not known.
  std::int64_t elsewhere = 0;
  std::uint64_t faults = 0;  // page faults of its thread
  double system_s = 0;       // CPU time of its thread in the kernel
  Followed followed;
  std::vector<LivePoint> live;
  std::uint64_t peak_bytes = 0;
  double peak_s = 0;
  std::size_t peak_operator = kNone;  // that ran at the peak

  static constexpr std::size_t kNone = ~std::size_t{0};
  bool is_whole() const { return ended && !incomplete; }
  bool trains() const;  // it has a backward pass
  // Its optimizer ran and no backward pass did, and other threads made or released memory.
  bool trains_elsewhere() const;
};

const char* name_of(Phase phase);  // "forward", "backward", "optimizer"

}  // namespace lotus::analyzer::memory
