// Assembles a loader's recording after all of its batches were read.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "answers/replay/recording.hpp"
#include "reading/model/iteration.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer {

// The facts about one batch or epoch that were read so far. Times in ticks.
struct RawBatch {
  Batch batch;
  Interval get;
  std::uint64_t cpu_ns = kUnknown;          // of the thread that made it, …
  std::uint64_t process_cpu_ns = kUnknown;  // … and of all threads of its process meanwhile
  std::uint64_t core_wait_ns = kUnknown;
  std::uint64_t lock_wait = 0;
  std::vector<OpTime> ops;  // op: Op::index; time in ticks
};

struct RawEpoch {
  std::map<std::uint64_t, RawBatch> batches;  // by index
  std::vector<RecordedStep> steps;
  Iteration iteration;
  std::uint64_t consumed = 0, cpu_before_step = kUnknown, received = kUnknown;
  std::uint64_t made = 0;
  std::uint64_t seen = 0, unseen = 0;  // batches that training got, with and without their fetch in the trace
  double images = 0, next = 0, get = 0,
         finish = 0;  // sums over the seen batches; ns; get: inside of __next__
  bool finished = false, kept = true;
  bool unsized = false;                // how many samples a batch has is not known
  bool iterable = false;               // a fetch found that its iterator had ended
  std::uint64_t first_got = kUnknown;  // the end of the first __next__ that gave a batch
};

struct EpochOf {
  const Process* training;
  std::uint64_t iterator, reset;
  const RawEpoch* raw;
};

// The recording of one loader of `training`. `ops`: by Op::index, self in ticks.
Recording recording_of(const Trace& trace, const Process& training, const Loader& loader,
                       std::vector<EpochOf> epochs, const std::vector<RecordedOp>& ops);

}  // namespace lotus::analyzer
