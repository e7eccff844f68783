// Compose-style runners, found by rule: code that reads an attribute of its `self` which holds a list,
// tuple or ModuleList of callables. What it calls of these are the operations.
#pragma once

#include "evaluator.hpp"

namespace lotus {

// The callables that this frame loops over, or nullptr if it is no runner. `self`: its first argument.
// The container lives as long as `self` keeps it.
py::Object* callables_of(Call& call, py::Object* self);

// The same for a frame that is `type(self).__call__` of a module whose `forward` is the runner.
py::Object* callables_of_forward(Call& call, py::Object* self);

// The item that is called next if all are called in order; nullptr where that is not known.
py::Object* expected_item(const Context& context);

// The callable of the context's items that this frame runs, or nullptr.
py::Object* match_item(Context& context, const Call& call, py::Object* first);

// Visits the container's callables: a list, a tuple or a dict's values. `visit` returns true to stop.
template <class Visit>
bool visit_items(py::Object* items, Visit&& visit) {
  if (py::is_a(items, py::kDict)) {
    py::Ssize at = 0;
    py::Object* key = nullptr;
    py::Object* value = nullptr;
    while (py::api.PyDict_Next(items, &at, &key, &value) != 0)
      if (visit(value)) return true;
    return false;
  }
  if (py::is_a(items, py::kList)) {
    const py::List* list = py::list_of(items);
    for (py::Ssize i = 0; i < list->size; ++i)
      if (visit(list->items[i])) return true;
    return false;
  }
  const py::Ssize size = py::api.PyTuple_Size(items);
  for (py::Ssize i = 0; i < size; ++i)
    if (visit(py::api.PyTuple_GetItem(items, i))) return true;
  return false;
}

}  // namespace lotus
