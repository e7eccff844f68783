// Frames below a fetch: samples, runners, operations.
#pragma once

#include "evaluator.hpp"

namespace lotus {

// Evaluates a frame as a sample of the dataset `self`. `index`: -1 if unknown.
py::Object* run_sample(Call& call, std::int64_t index);

// Makes sure that the frames of this dataset's __getitem__, and of the datasets that it wraps, are seen.
void keep_datasets_visible(py::Object* dataset);

// Records the file that the open sample reads, once. `path`: str or bytes.
void note_path(py::Object* path);

// The same for a file that C code has opened; recorded when the innermost span is left.
void note_opened(const char* path);

// Whether a frame of this code with this first argument is what a call of `callable` runs.
bool runs(py::Object* callable, const Call& call, py::Object* first);

}  // namespace lotus
