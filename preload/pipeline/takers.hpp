// What takes the results of an iterator.
//
// What a package's iterator gives to the program is data that somebody trains with, measures or looks at. But
// packages go through their own objects all the time: a graph that is moved to a device goes through a view
// of its tensors, a trainer through its evaluation. Of those it is training's steps, or a model's calls,
// between the results that tell a loader.
#pragma once

#include <cstdint>

#include "python/cpython.hpp"

namespace lotus {

// Whether the code of an installed package takes what a function of an iterator has just given: the first
// function around that is neither an iterator's nor Python's nor PyTorch's own. What its type has put around
// the function, as a decorator, is the iterator's. `iterator`: nullptr, a generator. Makes objects of the
// frames up to there.
bool is_taken_by_package(const py::Object* iterator);

// Calls of a torch.nn.Module by the main thread that were watched: each watch_next_call_of_model() counts the
// next one.
std::uint64_t models_called();
void watch_next_call_of_model();

}  // namespace lotus
