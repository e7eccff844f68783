// Batches: as messages from a worker to the training process through the result queue, and their size.
#pragma once

#include <cstdint>

#include "python/cpython.hpp"

namespace lotus {

// Whether a message is a batch, the tuple (index, data); its data, borrowed. The same way go a worker's
// answer to a new epoch, its note that an iterable dataset has no more, and what ends the pin thread.
bool is_batch(py::Object* message, std::uint64_t& index, py::Object*& data);

// The same of a message that is taken apart; nullptr: not known.
bool is_batch(py::Object* index, py::Object* data);

// Of data that come with something else, as torchdata's do: (data, worker, state). Borrowed; nullptr: it has
// no parts.
py::Object* first_part_of(py::Object* data);

// The length of a list or tuple; 0 for anything else.
std::uint64_t length_of_list(py::Object* object);

// How many samples are in a batch that a dataset made as a whole: the length that its parts have in common,
// as of images [16, 3, 224, 224] and labels [16]; 0: that cannot be told. Parts of one shape may as well be a
// single sample, an image of three channels and another. Runs nothing of the program's. No exception may be
// pending.
std::uint64_t batch_length(py::Object* batch);

// Whether an iterator's result may be a batch of training's: tensors that are no parameters, or arrays of
// several dimensions, by themselves or in containers. Runs nothing of the program's. No exception may be
// pending.
bool holds_arrays(py::Object* result);
// … or what a training is given: arrays, one of them of two dimensions or more, none of which has a gradient.
bool holds_data(py::Object* result);
// Whether a tensor in it has a gradient: a model made it.
bool is_made_by_model(py::Object* result);

}  // namespace lotus
