// Whether this thread is looking for garbage now: what CPython notes while it does.
#pragma once

#include <cstdint>

namespace lotus {

// Finds the note; hold the GIL, with no exception pending. Once it is found, a forked child knows it too.
void find_collecting();

enum class Collecting : std::uint8_t { unknown, no, yes };

// Async-signal-safe. Known of threads inside of the pipeline.
Collecting is_collecting();

}  // namespace lotus
