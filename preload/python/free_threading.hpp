// Free-threaded CPython, in which an object may change or go at any time by what another thread does.
//
// Functions of `api` that give borrowed references are replaced there by such that hold what they give until
// the state lock is free again; what is given back is given back then. So whoever holds the lock
// (state_lock.hpp) may use borrowed references as with CPython's own lock.
#pragma once

#include "python/cpython.hpp"

namespace lotus::py {

// Replaces the functions of `api`, which is complete. False: this interpreter lacks some that are needed.
bool use_shared_objects();

// What a list or a dictionary holds now, as a tuple or a list of our own: a new reference; nullptr: out of
// memory.
Object* copy_of_items(Object* container);

// list[index] of a list, borrowed; nullptr: there is none.
Object* item_of_shared(Object* list, Ssize index);
inline Object* item_of(Object* list, Ssize index) {
  if (free_threaded) [[unlikely]]
    return item_of_shared(list, index);
  return index < list_of(list)->size ? list_of(list)->items[index] : nullptr;
}

// Stores a code object's extra value, in a thread that holds the state lock while others read it without. The
// function of CPython's moves the array of these values in memory. False: out of memory.
bool publish_extra(Object* code, Ssize index, void* value);

}  // namespace lotus::py
