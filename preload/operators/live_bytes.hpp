// How much memory PyTorch's CPU allocator has given out.
#pragma once

#include <cstdint>

namespace lotus {

// Bytes that are given out now, to all threads, as malloc rounds them up. Atomic.
inline constinit std::uint64_t live_tensor_bytes = 0;

}  // namespace lotus
