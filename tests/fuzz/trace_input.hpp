// Traces that are inputs of fuzz targets.
#pragma once

#include <lotus/segment.hpp>

#include "fuzz.hpp"

namespace lotus::fuzz {

// The values that are corrected because a fuzzer cannot guess them.
enum Mend : std::uint8_t { kHeader = 1, kChecks = 2, kSizes = 4 };

// Corrects the bytes of a trace file. Bits of `what` that are not in Mend are ignored.
void mend_trace(Bytes& file, std::uint8_t what);

// A trace with two batches of one worker, in frames of this codec.
Bytes small_trace(Codec codec);

// A trace of one rank: twelve batches of two workers, with native entry points, stack samples, CPU times and
// gaps.
Bytes pipeline_trace();

}  // namespace lotus::fuzz
