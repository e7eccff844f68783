// Containers of callables.
#pragma once

#include "python/free_threading.hpp"
#include "python/objects.hpp"

namespace lotus {

// Visits the container's callables: a list, a tuple or a dict's values. `visit` returns true to stop.
template <class Visit>
bool visit_items(py::Object* items, Visit&& visit) {
  const bool changes = py::free_threaded && !py::is_a(items, py::kTuple);  // by what other threads do
  const Owned copy(changes ? py::copy_of_items(items) : nullptr);
  if (changes && !copy) return false;
  if (copy) items = copy.get();
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
