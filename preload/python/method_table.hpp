// Methods and functions of extension modules, replaced in their method tables.
//
// A builtin or a C method is called through `ml_meth` of its PyMethodDef, which CPython reads at each call:
// that pointer is replaced by one of a fixed set of trampolines. The method does not know its PyMethodDef, so
// each replaced one has a trampoline of its own. The calling conventions (METH_O, METH_VARARGS, METH_FASTCALL
// …) take at most six pointer-sized arguments, all in registers: one type serves all.
//
// Rules for callers: hold the GIL, or the state lock.
#pragma once

#include <cstdint>

#include "python/cpython.hpp"

namespace lotus {

using Method = void* (*)(void*, void*, void*, void*, void*, void*);

struct MethodDef {  // PyMethodDef
  const char* name;
  Method method;
  int flags;
  const char* doc;
};

struct MethodArguments {
  void* a;
  void* b;
  void* c;
  void* d;
  void* e;
  void* f;
};

// A method that was replaced. `wrapper` is called in its place, and calls it by run().
struct ReplacedMethod {
  using Wrapper = void* (*)(const ReplacedMethod&, const MethodArguments&);
  MethodDef* definition = nullptr;
  Method real = nullptr;
  Wrapper wrapper = nullptr;
  std::uintptr_t data = 0;  // the wrapper's own

  void* run(const MethodArguments& with) const {
    return real(with.a, with.b, with.c, with.d, with.e, with.f);
  }
};

// The definition of a builtin function or C method; nullptr for anything else.
MethodDef* method_of(py::Object* callable);

// What the definition held before any replacement.
Method original_of(const MethodDef* definition);

// Replaces the method, once for each wrapper. A method may be replaced by several: the last comes first.
// False where that is impossible: no trampoline is left, or the table lies in read-only memory.
bool replace_method(MethodDef* definition, ReplacedMethod::Wrapper wrapper, std::uintptr_t data);

}  // namespace lotus
