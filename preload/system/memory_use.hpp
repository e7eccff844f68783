// How much memory this process has.
#pragma once

#include <cstdint>

namespace lotus {

// Bytes; UINT64_MAX: not known. A read of a file of /proc, about 5 µs.
std::uint64_t resident_memory();

// Memory of this process alone that no file is behind: what a forked process has written to, for what it has
// not is its parent's, too. Estimated from one page in many, to 2 % of all writable memory, in 1 to 3 ms
// (1 µs for each page that is looked at, and for each mapping), however large the process is.
// /proc/self/smaps_rollup, which is exact, takes 0.1 µs for each page there is. UINT64_MAX: not known.
std::uint64_t private_memory();

}  // namespace lotus
