// Loaders that are not PyTorch's DataLoader, nor made like it: torchdata.nodes, SPDL, Grain, Ray Data, DALI
// and others. Those that the program has written itself: own_loaders.hpp.
//
// What those of packages have in common is where their batches come out: training calls an iterator of an
// installed package, and gets tensors or arrays. The outermost such call on the main thread, while no
// iterator of PyTorch's was made, is training's wait for a batch; one that only hands on what another one
// inside of it gave, as progress bars do, is not it. The second batch tells: then both are recorded.
#pragma once

#include <cstdint>

namespace lotus {

// Whether the main thread runs a function of an iterator of an installed package, or of the program's own.
bool is_iterating();

// Whether a package's threads and pools may work for such a loader: not where PyTorch's is the only one.
bool may_be_stage();

// Whether what is done for a loader of this owner, see owner_of(), is known to be for one.
bool makes_for(std::uint32_t owner);

// The same in a process that another one started, which may have such a loader: by its segment, which is
// looked at now and then until it says so.
bool parent_makes_for(std::uint32_t owner);

// Whether the next batch may tell that the last ones were batches of such a loader's: what is recorded of
// this thread has to begin with the first of them, and must not have begun by then.
bool may_begin_with_batch();

// A forked child starts with none.
void forget_other_loaders();

}  // namespace lotus
