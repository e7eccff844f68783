// The stack lane of one traced process: its snapshots become stack_sample records.
#pragma once

#include <cstdint>
#include <lotus/segment.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "stacks/modules.hpp"
#include "stacks/stack_store.hpp"
#include "stacks/unwinder.hpp"

namespace lotus::collector {

// What all processes of a trace share.
struct Stacks {
  Binaries binaries;
  Unwinder unwinder{binaries};
  StackStore store{binaries};
};

class ProcessStacks {
 public:
  // `stacks` outlives this.
  ProcessStacks(Stacks& stacks, std::uint32_t pid) : stacks_(stacks), pid_(pid), modules_(stacks.binaries) {}

  // Takes up what the process's definitions say of modules and Python code; others are ignored.
  void define(Bytes records, std::uint64_t base_ticks);

  enum class Taken : std::uint8_t {
    yes,
    damaged,
    waits,  // something may still be defined that it needs: try again later
  };
  // Unwinds a snapshot and keeps its sample. `may_wait`: there is time to wait for definitions.
  Taken take(const RingRecord& record, Bytes payload, bool may_wait);
  // Every snapshot so far has been taken; holds from commit().
  void caught_up() { caught_up_ = true; }

  // Adds what was taken to the batch: definitions of new stacks, then the samples. `position`: in the stack
  // ring, up to which it was read.
  void write(TraceFile& file, Packer& packer, std::uint32_t process, std::uint64_t position);
  void commit();
  // The samples taken since commit() are forgotten: they will be taken again.
  void rollback();
  // Enough for a frame.
  bool full() const { return samples_.size() >= kSamplesPerFrame; }

 private:
  static constexpr std::size_t kSamplesPerFrame = 65536;
  struct Sample {
    std::uint64_t ticks;
    std::uint32_t tid, op, stack, flags, weight;
  };
  bool worth_waiting(std::uint64_t address);
  void weave(const Snapshot& snapshot, const Unwound& unwound);
  LocationId native(std::uint64_t address);
  LocationId python(std::uint32_t code);

  Stacks& stacks_;
  std::uint32_t pid_;
  Modules modules_;
  std::unordered_map<std::uint64_t, FunctionName> codes_;  // by definition id
  struct CodeLocation {
    std::uint64_t key = 0;  // the definition id and 1
    LocationId location = 0;
  };
  FlatTable<CodeLocation> code_locations_;
  std::vector<LocationId> locations_;  // of the snapshot at hand
  std::vector<Sample> samples_;
  bool caught_up_ = false;
  std::unordered_set<std::uint64_t> hopeless_;  // pages of code that nobody defined while it was waited for
  std::uint64_t hopeless_generation_ = 0;       // of the modules, when that was found
};

}  // namespace lotus::collector
