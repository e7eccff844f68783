// How much memory PyTorch's CPU allocator has given out.
#pragma once

#include <cstdint>

namespace lotus {

// Bytes that are given out now, to all threads, as malloc rounds them up. Atomic.
inline constinit std::uint64_t live_tensor_bytes = 0;

// Whether that is so: PyTorch allocates by libc's malloc, and not by one of its own (mimalloc, in the wheels
// for aarch64), whose blocks cannot be asked for their size.
inline constinit bool live_bytes_known = false;

}  // namespace lotus
