#include "pipeline/native_callables.hpp"

#include "pipeline/callable.hpp"
#include "pipeline/contexts.hpp"
#include "pipeline/items.hpp"
#include "pipeline/operation_names.hpp"
#include "python/method_table.hpp"
#include "python/objects.hpp"
#include "python/state_lock.hpp"
#include "record/recorder.hpp"

namespace lotus {
namespace {

// What a partial calls in the end. Borrowed: the partial keeps it.
py::Object* innermost(py::Object* callable) {
  for (int depth = 0; depth < 8; ++depth) {
    if (!is_partial(callable)) return callable;
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
  const Context* around = context_around(__builtin_frame_address(0));
  if (around == nullptr || process.off) return nullptr;
  if (around->kind != Context::Kind::runner && around->kind != Context::Kind::sample) return nullptr;
  const auto* context = static_cast<const ItemsContext*>(around);
  if (context->items == nullptr) return nullptr;
  py::Object* found = nullptr;
  visit_items(context->items, [&](py::Object* item) {
    py::Object* callable = innermost(item);
    if (method_of(callable) == definition) found = callable;
    return found != nullptr;
  });
  return found;
}

void* run_unlocked(const ReplacedMethod& method, const MethodArguments& arguments) {
  const WithoutStateLock program_runs;
  return method.run(arguments);
}

void* run_item(const ReplacedMethod& method, const MethodArguments& arguments) {
  if (python_thread.context == nullptr) return method.run(arguments);
  const StateLock lock;
  py::Object* callable = called_by_runner(method.definition);
  if (callable == nullptr) return run_unlocked(method, arguments);
  const Span span = enter<Kind::op>(definition_of_native(callable, method.definition, OpRole::transform));
  mark_entry(span, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  void* result = nullptr;
  {
    OperationContext context(nullptr);  // Python that it calls back is part of it
    const ContextScope scope(context);
    result = run_unlocked(method, arguments);
  }
  leave(span, result != nullptr ? Kind::leave : Kind::leave_error);
  return result;
}

void hook(py::Object* callable) {
  if (MethodDef* definition = method_of(callable)) replace_method(definition, run_item, 0);
}

}  // namespace

void hook_native_callables(py::Object* items) {
  visit_items(items, [](py::Object* item) {
    hook(innermost(item));
    return false;
  });
}

}  // namespace lotus
