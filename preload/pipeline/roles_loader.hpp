// What other roles need to know of the iterator that this thread works for.
#pragma once

#include "pipeline/iterators.hpp"

namespace lotus {

// The iterator for which this thread takes batches from a queue: inside _get_data, or as its pin thread.
// nullptr: for none.
const Iterator* iterator_of_get();

}  // namespace lotus
