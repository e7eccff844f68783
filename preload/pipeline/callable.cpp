#include "pipeline/callable.hpp"

#include <cstring>

#include "python/evaluator.hpp"
#include "python/known_calls.hpp"
#include "python/objects.hpp"

namespace lotus {

bool is_partial(py::Object* callable) {
  return std::strcmp(py::type_name(py::type_of(callable)), "functools.partial") == 0;
}

namespace {

// What the frame's function closes over is `closure`, a function's tuple of cells.
bool closes_over(const Call& call, py::Object* closure) {
  const py::Ssize size = closure != nullptr ? py::api.PyTuple_Size(closure) : 0;
  for (py::Ssize i = 0; i < size; ++i)
    if (py::local_of(call.frame, call.info->closed_over + static_cast<int>(i)) !=
        py::api.PyTuple_GetItem(closure, i))
      return false;
  return size > 0;
}

// Functions that a decorator made have one code; what they close over tells them apart.
bool runs_function(py::Object* function, const Call& call) {
  if (!py::is_exactly(function, py::api.PyFunction_Type) || py::api.PyFunction_GetCode(function) != call.code)
    return false;
  if (!call.info->closes_over) return true;
  if (py::Object* const own = py::function_of(call.frame)) return own == function;
  return call.info->closed_over < 0 || closes_over(call, py::api.PyFunction_GetClosure(function));
}

// The function in a cell; nullptr: there is none.
py::Object* function_in(py::Object* cell) {
  if (cell == nullptr || !py::is_exactly(cell, py::api.PyCell_Type)) return nullptr;
  const Owned content(py::api.PyCell_Get(cell));
  const bool is_function = content && py::is_exactly(content.get(), py::api.PyFunction_Type);
  return is_function ? content.get() : nullptr;  // the cell keeps it alive
}

py::Object* function_in_closure(py::Object* function) {
  py::Object* const closure = py::api.PyFunction_GetClosure(function);
  const py::Ssize size = closure != nullptr ? py::api.PyTuple_Size(closure) : 0;
  for (py::Ssize i = 0; i < size; ++i)
    if (py::Object* const found = function_in(py::api.PyTuple_GetItem(closure, i))) return found;
  return nullptr;
}

// Whether the frame's function stands for another one: it takes whatever that one does, or functools.wraps
// says so. Other functions that close over some are operations of their own.
bool is_decorators(const Call& call) {
  if (call.info->takes_any) return true;
  py::Object* const own = py::function_of(call.frame);
  const Owned wrapped(own != nullptr ? plain_attribute(own, names.__wrapped__) : nullptr);
  return static_cast<bool>(wrapped);
}

py::Object* function_in_frame(const Call& call) {
  if (py::Object* const own = py::function_of(call.frame)) return function_in_closure(own);
  const Owned closed_over(py::api.PyObject_GetAttr(call.code, names.co_freevars));
  const py::Ssize size =
      closed_over && call.info->closed_over >= 0 ? py::api.PyTuple_Size(closed_over.get()) : 0;
  for (py::Ssize i = 0; i < size; ++i)
    if (py::Object* const found =
            function_in(py::local_of(call.frame, call.info->closed_over + static_cast<int>(i))))
      return found;
  return nullptr;
}

// A class is called as its __init__, which is seen once it was noted, see note_called().
py::Object* init_of(py::Object* type) {
  return py::api._PyType_Lookup(reinterpret_cast<py::Type*>(type), names.__init__);
}

// The code that a call of `callable` runs; nullptr: none of Python's.
py::Object* code_run_by(py::Object* callable) {
  py::Object* function = callable;
  if (py::is_a(callable, py::kType)) {
    function = init_of(callable);
  } else if (py::is_exactly(callable, py::api.PyMethod_Type)) {
    function = py::api.PyMethod_Function(callable);
  } else if (!py::is_exactly(callable, py::api.PyFunction_Type)) {
    function = py::api._PyType_Lookup(py::type_of(callable), names.__call__);
  }
  const bool is_function = function != nullptr && py::is_exactly(function, py::api.PyFunction_Type);
  return is_function ? py::api.PyFunction_GetCode(function) : nullptr;
}

}  // namespace

py::Object* wrapped_function(const Call& call) {
  if (!call.info->closes_over || !is_decorators(call)) return nullptr;
  py::Object* found = function_in_frame(call);
  for (int decorators = 1; found != nullptr && decorators < 8; ++decorators) {
    py::Object* const inner = function_in_closure(found);
    if (inner == nullptr) break;
    found = inner;
  }
  return found;
}

py::Object* called_by(py::Object* callable) {
  if (is_partial(callable)) {
    const Owned inner(py::api.PyObject_GetAttr(callable, names.func));
    py::api.PyErr_Clear();
    return inner.get() != callable ? inner.get() : nullptr;
  }
  if (py::is_exactly(callable, py::api.PyFunction_Type) || py::is_exactly(callable, py::api.PyMethod_Type) ||
      py::is_a(callable, py::kType))
    return nullptr;
  py::Object* const call = py::api._PyType_Lookup(py::type_of(callable), names.__call__);
  if (call == nullptr || py::is_exactly(call, py::api.PyFunction_Type)) return nullptr;
  const Owned inner(plain_attribute(callable, names.__wrapped__));
  const bool is_function = inner && py::is_exactly(inner.get(), py::api.PyFunction_Type);
  return is_function ? inner.get() : nullptr;
}

void note_called(py::Object* callable) {
  if (py::Object* const inner = called_by(callable)) return note_called(inner);
  py::Object* code = code_run_by(callable);
  if (code != nullptr && py::is_a(callable, py::kType))
    py::keep_calls_visible(reinterpret_cast<py::Type*>(callable));
  CodeInfo* info = code != nullptr ? info_of(code) : nullptr;
  if (info == nullptr || info->called) return;
  info->called = true;
  known_calls.clear();
}

std::uint64_t call_version(py::Object* callable) {
  const bool is_method = py::is_exactly(callable, py::api.PyMethod_Type);
  py::Object* function = is_method ? py::api.PyMethod_Function(callable) : callable;
  if (py::is_exactly(function, py::api.PyFunction_Type))
    return reinterpret_cast<std::uintptr_t>(py::api.PyFunction_GetCode(function));
  if (py::is_a(callable, py::kType)) return py::type_version(reinterpret_cast<py::Type*>(callable));
  return py::type_version(py::type_of(function));
}

bool runs(py::Object* callable, const Call& call, py::Object* first) {
  if (py::is_exactly(callable, py::api.PyFunction_Type)) return runs_function(callable, call);
  if (py::is_exactly(callable, py::api.PyMethod_Type))
    return runs_function(py::api.PyMethod_Function(callable), call) &&
           (first == nullptr || first == py::api.PyMethod_Self(callable));
  if (callable == first) {
    py::Object* method = py::api._PyType_Lookup(py::type_of(callable), names.__call__);
    return method != nullptr && runs_function(method, call);
  }
  if (py::is_a(callable, py::kType)) {
    const bool is_new = first != nullptr && reinterpret_cast<py::Object*>(py::type_of(first)) == callable;
    py::Object* const init = is_new ? init_of(callable) : nullptr;
    return init != nullptr && runs_function(init, call);
  }
  py::Object* const inner = called_by(callable);
  return inner != nullptr && runs(inner, call, first);
}

}  // namespace lotus
