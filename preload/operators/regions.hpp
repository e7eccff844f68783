// Regions: calls of one function, which LOTUS_REGION names, of which all is recorded that control flow needs:
// PyTorch's operators and the calls of Python functions. They take the place of steps of training.
#pragma once

#include <cstddef>

#include "operators/turns.hpp"

namespace lotus {

inline constexpr std::size_t kRegionNameBytes = 512;

// Before the first call. `name`: the function's qualified name, its module's may stand before it; kept.
void choose_region(const char* name, RecordedSteps which);

// Whether the function was called, where a call of it is a region.
bool region_was_met();

}  // namespace lotus
