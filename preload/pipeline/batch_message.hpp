// What goes from a worker to the training process through the result queue.
#pragma once

#include <cstdint>

#include "python/cpython.hpp"

namespace lotus {

// Whether a message is a batch, the tuple (index, data); its data, borrowed. The same way go a worker's
// answer to a new epoch, its note that an iterable dataset has no more, and what ends the pin thread.
bool is_batch(py::Object* message, std::uint64_t& index, py::Object*& data);

// The same of a message that is taken apart; nullptr: not known.
bool is_batch(py::Object* index, py::Object* data);

}  // namespace lotus
