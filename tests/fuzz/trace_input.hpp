// Traces as inputs of fuzz targets.
#pragma once

#include <lotus/segment.hpp>

#include "fuzz.hpp"

namespace lotus::fuzz {

// Which of the things that a fuzzer cannot guess are set right.
enum Mend : std::uint8_t { kHeader = 1, kChecks = 2, kSizes = 4 };

// Mends the bytes of a trace file; bits of `what` that are not of Mend mean nothing here.
void mend_trace(Bytes& file, std::uint8_t what);

// Two batches of one worker, in frames of this codec.
Bytes small_trace(Codec codec);

// A rank's twelve batches of two workers, with native entry points, samples of stacks, CPU times and gaps.
Bytes pipeline_trace();

}  // namespace lotus::fuzz
