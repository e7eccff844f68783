// Free-threaded CPython, in which an object may change or go at any time by what another thread does.
//
// Functions of `api` that give borrowed references are replaced there by such that hold what they give until
// the state lock is free again; what is given back is given back then. So whoever holds the lock
// (state_lock.hpp) may use borrowed references as with CPython's own lock.
#pragma once

#include "python/cpython.hpp"

namespace lotus::py {

// F(result, name, parameters)
// clang-format off
#define LOTUS_PY_SHARED_FUNCTIONS(F)                                                               \
  F(void*, PyEval_SaveThread, ())                                                                  \
  F(void, PyEval_RestoreThread, (void*))                                                           \
  F(int, Py_IsFinalizing, ())                                                                      \
  F(void, Py_DecRef, (Object*))                                                                    \
  F(void*, PyMem_Malloc, (std::size_t))                                                            \
  F(Object*, PyList_GetItemRef, (Object*, Ssize))                                                  \
  F(Object*, PyList_AsTuple, (Object*))                                                            \
  F(int, PyDict_GetItemRef, (Object*, Object*, Object**))                                          \
  F(int, PyDict_GetItemStringRef, (Object*, const char*, Object**))                                \
  F(Object*, PyDict_Values, (Object*))                                                             \
  F(Object*, _PyType_LookupRef, (Type*, Object*))
// clang-format on

struct SharedApi {
#define LOTUS_PY_F(result, name, parameters) result(*name) parameters;
  LOTUS_PY_SHARED_FUNCTIONS(LOTUS_PY_F)
#undef LOTUS_PY_F
};
extern SharedApi shared_api;

// Replaces the functions of `api`, which is complete. False: this interpreter lacks some that are needed.
bool use_shared_objects();

// What a list or a dictionary holds now, as a tuple or a list of our own: a new reference; nullptr: out of
// memory.
Object* copy_of_items(Object* container);

// list[index], borrowed; nullptr: there is none.
Object* item_of_shared(Object* list, Ssize index);

// Stores a code object's extra value, in a thread that holds the state lock while others read it without. The
// function of CPython's moves the array of these values in memory. False: out of memory.
bool publish_extra(Object* code, Ssize index, void* value);

}  // namespace lotus::py
