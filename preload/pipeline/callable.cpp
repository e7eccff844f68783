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

// The code that a call of `callable` runs; nullptr: none of Python's.
py::Object* code_run_by(py::Object* callable) {
  py::Object* function = callable;
  if (py::is_exactly(callable, py::api.PyMethod_Type))
    function = py::api.PyMethod_Function(callable);
  else if (!py::is_exactly(callable, py::api.PyFunction_Type))
    function = py::api._PyType_Lookup(py::type_of(callable), names.__call__);
  const bool is_function = function != nullptr && py::is_exactly(function, py::api.PyFunction_Type);
  return is_function ? py::api.PyFunction_GetCode(function) : nullptr;
}

}  // namespace

void note_called(py::Object* callable) {
  if (is_partial(callable)) {
    const Owned inner(py::api.PyObject_GetAttr(callable, names.func));
    py::api.PyErr_Clear();
    if (inner && inner.get() != callable) note_called(inner.get());
    return;
  }
  py::Object* code = code_run_by(callable);
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
  return py::type_version(py::type_of(function));
}

bool runs(py::Object* callable, const Call& call, py::Object* first) {
  if (py::is_exactly(callable, py::api.PyFunction_Type))
    return py::api.PyFunction_GetCode(callable) == call.code;
  if (py::is_exactly(callable, py::api.PyMethod_Type)) {
    py::Object* function = py::api.PyMethod_Function(callable);
    return py::is_exactly(function, py::api.PyFunction_Type) &&
           py::api.PyFunction_GetCode(function) == call.code &&
           (first == nullptr || first == py::api.PyMethod_Self(callable));
  }
  if (callable == first) {
    py::Object* method = py::api._PyType_Lookup(py::type_of(callable), names.__call__);
    return method != nullptr && py::is_exactly(method, py::api.PyFunction_Type) &&
           py::api.PyFunction_GetCode(method) == call.code;
  }
  if (!is_partial(callable)) return false;
  const Owned inner(py::api.PyObject_GetAttr(callable, names.func));
  py::api.PyErr_Clear();
  return inner && inner.get() != callable && runs(inner.get(), call, first);
}

}  // namespace lotus
