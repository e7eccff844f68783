// Paths of the files that samples are read from.
#pragma once

#include "record/chunk.hpp"

namespace lotus {

// The file of the open sample. Longer paths are cut to kMaxPath bytes.
void record_path(const char* path, std::size_t bytes);

// Records Thread::opened.
void record_opened(Thread& thread, std::uint64_t now);

}  // namespace lotus
