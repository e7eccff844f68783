// Memory that PyTorch's CPU allocator gives out: c10::alloc_cpu and c10::free_cpu, interposed.
#pragma once

#include <cstdint>

namespace lotus {

// Bytes that are given out now, by all threads, as malloc rounds them up.
std::uint64_t live_tensor_bytes();

}  // namespace lotus
