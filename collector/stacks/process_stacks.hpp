// The stack lane of one traced process: its snapshots become stack_sample and off_cpu records.
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
  ModuleHistories module_histories;
};

class ProcessStacks {
 public:
  // `stacks` outlives this. `created`: ticks of the process's frame.
  ProcessStacks(Stacks& stacks, std::uint32_t pid, std::uint64_t created = 0)
      : stacks_(stacks), pid_(pid), modules_(stacks.binaries, stacks.module_histories, {pid, created}) {}

  // Reads the process's definitions of modules and Python code; other definitions are ignored.
  void define(Bytes records, std::uint64_t base_ticks);

  enum class Taken : std::uint8_t {
    yes,
    damaged,
    waits,  // it refers to code that may still be defined: try again later
  };
  // Unwinds a snapshot and keeps its sample. `may_wait`: there is time to wait for definitions.
  Taken take(const RingRecord& record, Bytes payload, bool may_wait);
  // Every snapshot so far has been taken. Takes effect at commit().
  void caught_up() { caught_up_ = true; }

  // Adds definitions of new stacks and then the samples to the batch. `position`: how far the stack ring was
  // read.
  void write(TraceFile& file, Packer& packer, std::uint32_t process, std::uint64_t position);
  void commit();
  // The samples taken since commit() are forgotten: they will be taken again.
  void rollback();
  // There are enough samples for a frame of the trace.
  bool full() const { return samples_.size() >= kSamplesPerFrame; }

 private:
  static constexpr std::size_t kSamplesPerFrame = 65536;
  struct Sample {
    std::uint64_t ticks;
    std::uint32_t tid, op, stack, flags, weight;
    std::uint32_t hook;    // 0: a sample of CPU time
    std::uint64_t waited;  // ticks
    std::vector<SnapshotCount> counts;
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
    std::uint64_t key = 0;  // the definition id plus 1
    LocationId location = 0;
  };
  FlatTable<CodeLocation> code_locations_;
  std::vector<LocationId> locations_;  // of the current snapshot
  std::vector<Sample> samples_;
  bool caught_up_ = false;
  // Pages of code that no module covered even after waiting: their snapshots wait no more.
  std::unordered_set<std::uint64_t> undefined_pages_;
  std::uint64_t undefined_generation_ = 0;  // modules_.generation() that undefined_pages_ holds for
};

}  // namespace lotus::collector
