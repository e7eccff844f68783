// Compose-style runners, found by rule: code that reads an attribute of its `self` which holds callables in a
// list, tuple, ModuleList or another sequence, or in a dict that it goes through. What it calls of these are
// the operations.
#pragma once

#include "pipeline/contexts.hpp"
#include "python/call.hpp"

namespace lotus {

// The callables that this frame loops over, or nullptr if it is no runner. `self`: its first argument.
// The container lives as long as `self` keeps it.
py::Object* callables_of(Call& call, py::Object* self);

// The same for a frame that is `type(self).__call__` of a module whose `forward` is the runner.
py::Object* callables_of_forward(Call& call, py::Object* self);

// The item that is called next if all are called in order; nullptr where that is not known.
py::Object* expected_item(const ItemsContext& context);

// The callable of the context's items that this frame runs, or nullptr.
py::Object* match_item(ItemsContext& context, const Call& call, py::Object* first);

}  // namespace lotus
