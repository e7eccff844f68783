// What the training loop itself calls of a dataset: len(dataset), a property, any method.
#pragma once

#include "python/cpython.hpp"

namespace lotus {

// The functions of the classes of this loader's dataset, and of a dataset that it wraps, are timed from now
// on where they are called outside of the loader.
void watch_dataset(py::Object* loader);

// In a forked child: what this thread was in the middle of is its parent's.
void forget_dataset_calls();

}  // namespace lotus
