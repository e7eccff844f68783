#include "python/call.hpp"

#include "python/objects.hpp"
#include "system/hot.hpp"

namespace lotus {

LOTUS_HOT constinit py::Evaluator evaluate_next = nullptr;

py::Object* evaluate_unlocked(py::ThreadState* state, py::Frame* frame, int throwing) {
  const WithoutStateLock program_runs;
  return evaluate_next(state, frame, throwing);
}

py::Object* local_variable(const Call& call, int index) {
  py::Object* value = index < 0 ? nullptr : py::local_of(call.frame, index);
  if (value == nullptr || !py::is_exactly(value, py::api.PyCell_Type)) return value;
  const Owned content(py::api.PyCell_Get(value));
  return content.get();  // the cell keeps it alive
}

py::Object* first_of(py::Object* tuple) {
  const bool any = tuple != nullptr && py::is_a(tuple, py::kTuple) && py::api.PyTuple_Size(tuple) > 0;
  return any ? py::api.PyTuple_GetItem(tuple, 0) : nullptr;
}

void replace_local(const Call& call, int index, py::Object* value) {
  py::Object* old = py::local_of(call.frame, index);
  if (py::is_exactly(old, py::api.PyCell_Type))
    py::api.PyCell_Set(old, value);
  else
    py::set_local(call.frame, index, value);
}

Kind how_left(const py::Object* result) {
  if (result != nullptr) return Kind::leave;
  const void* stop = *static_cast<void* const*>(py::api.PyExc_StopIteration);
  return py::api.PyErr_Occurred() == stop ? Kind::leave_empty : Kind::leave_error;
}

}  // namespace lotus
