// How a payload is stored, in a ring and in the trace file.
#pragma once

#include <cstdint>

namespace lotus {

enum class Codec : std::uint8_t { raw = 0, zstd = 1 };

}  // namespace lotus
