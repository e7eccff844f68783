#include "callables.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "classify.hpp"
#include "names.hpp"
#include "pipeline.hpp"
#include "recorder.hpp"
#include "runners.hpp"

namespace lotus {
namespace {

// A builtin or a C method is called through `ml_meth` of its PyMethodDef, which CPython reads at each call:
// that pointer is replaced by one of a fixed set of trampolines. The method does not know its PyMethodDef, so
// each hooked one has a trampoline of its own. The calling conventions (METH_O, METH_VARARGS, METH_FASTCALL
// …) take at most six pointer-sized arguments, all in registers: one trampoline serves all.
constexpr std::size_t kMethods = 64;

using Method = void* (*)(void*, void*, void*, void*, void*, void*);

struct MethodDef {  // PyMethodDef
  const char* name;
  Method method;
  int flags;
  const char* doc;
};

struct Hooked {
  MethodDef* definition = nullptr;
  Method real = nullptr;
};
constinit Hooked hooked[kMethods] = {};
constinit std::size_t hooked_count = 0;

MethodDef* method_of(py::Object* callable) {
  // PyCFunctionObject: m_ml behind the object header. PyMethodDescrObject: d_method behind PyDescr_COMMON
  // (type, name, qualname).
  if (py::is_exactly(callable, py::api.PyCFunction_Type)) return reinterpret_cast<MethodDef**>(callable)[2];
  if (py::is_exactly(callable, py::api.PyMethodDescr_Type)) return reinterpret_cast<MethodDef**>(callable)[5];
  return nullptr;
}

// What a partial calls in the end. Borrowed: the partial keeps it.
py::Object* innermost(py::Object* callable) {
  for (int depth = 0; depth < 8; ++depth) {
    if (std::strcmp(py::type_name(py::type_of(callable)), "functools.partial") != 0) return callable;
    const Owned inner(py::api.PyObject_GetAttr(callable, names.func));
    py::api.PyErr_Clear();
    if (!inner) return callable;
    callable = inner.get();
  }
  return callable;
}

// The runner's item that this method is, if the runner itself calls it and not one of its operations; else
// nullptr.
py::Object* called_by_runner(const MethodDef* definition) {
  const Context* context = here.context;
  if (context == nullptr || context->items == nullptr || process.off) return nullptr;
  if (context->kind != Context::Kind::runner && context->kind != Context::Kind::sample) return nullptr;
  py::Object* found = nullptr;
  visit_items(context->items, [&](py::Object* item) {
    py::Object* callable = innermost(item);
    if (method_of(callable) == definition) found = callable;
    return found != nullptr;
  });
  return found;
}

template <std::size_t I>
void* trampoline(void* a, void* b, void* c, void* d, void* e, void* f) {
  const Hooked& hook = hooked[I];
  py::Object* callable = here.context == nullptr ? nullptr : called_by_runner(hook.definition);
  if (callable == nullptr) return hook.real(a, b, c, d, e, f);
  const Span span = enter<Kind::op>(definition_of_native(callable, hook.definition, OpRole::transform));
  mark_entry(span, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  void* result = nullptr;
  {
    Context context;  // Python that it calls back is part of it
    context.kind = Context::Kind::op;
    const ContextScope scope(context);
    result = hook.real(a, b, c, d, e, f);
  }
  leave(span, result != nullptr ? Kind::leave : Kind::leave_error);
  return result;
}

template <std::size_t... I>
constexpr auto make_trampolines(std::index_sequence<I...>) {
  struct Table {
    Method at[sizeof...(I)];
  };
  return Table{{trampoline<I>...}};
}
constexpr auto kTrampolines = make_trampolines(std::make_index_sequence<kMethods>{});

// Stores the pointer through the kernel, which refuses where memory is read-only instead of faulting.
void store(Method* target, Method value) {
  const iovec from{&value, sizeof value};
  const iovec to{target, sizeof value};
  [[maybe_unused]] const ssize_t stored = process_vm_writev(getpid(), &from, 1, &to, 1, 0);
}

void hook(py::Object* callable) {
  MethodDef* definition = method_of(callable);
  if (definition == nullptr || hooked_count == kMethods) return;
  for (std::size_t i = 0; i < hooked_count; ++i)
    if (hooked[i].definition == definition) return;
  hooked[hooked_count] = {definition, definition->method};
  // Where the table is read-only the method stays as it is; it is remembered, and not tried again.
  store(&definition->method, kTrampolines.at[hooked_count]);
  ++hooked_count;
}

}  // namespace

void hook_native_callables(py::Object* items) {
  visit_items(items, [](py::Object* item) {
    hook(innermost(item));
    return false;
  });
}

}  // namespace lotus
