// Which rank of a distributed training run this process is.
#pragma once

#include <cstdint>

namespace lotus {

struct Rank {
  std::uint64_t rank = 0, world = 0;  // world: how many there are; 0: this is no such run
  std::int64_t local = -1;            // among those of this machine; -1: unknown

  bool known() const { return world > 1; }
};

// From the environment that launchers give their processes, else from learn_rank(). What
// was found once stays; a forked child inherits it.
const Rank& rank_of_process();

// What the program says of itself; ignored if it makes no sense.
void learn_rank(std::int64_t rank, std::int64_t world);

// The process that launched this one together with its other ranks, 0 if none is known: their records belong
// into one trace. A shell is no launcher: it outlives the run, and the next one would be appended to this
// one's.
std::uint32_t launcher_of_ranks();

}  // namespace lotus
