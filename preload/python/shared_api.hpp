// Functions of CPython that only a free-threaded interpreter is asked for: they give references that are
// held, where `api` has such that borrow, and let go of the interpreter.
#pragma once

#include <cstddef>

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

// Finds them. False: this interpreter lacks some.
bool find_shared_api();

}  // namespace lotus::py
