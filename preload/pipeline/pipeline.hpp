// Frames below a fetch: samples, runners, operations.
#pragma once

#include "python/call.hpp"

namespace lotus {

// Evaluates a frame as a sample of the dataset `self`. `index`: -1 if unknown.
py::Object* run_sample(Call& call, std::int64_t index);

// Makes sure that the frames of this dataset's __getitem__, and of the datasets that it wraps, are seen.
void keep_datasets_visible(py::Object* dataset);

}  // namespace lotus
