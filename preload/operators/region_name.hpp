// Whether a function is the one that LOTUS_REGION names: by its qualified name, before which its module's may
// stand. Up to 3.10 a code object has no qualified name: there it is that of the class of its first argument
// that has the function, or its own.
#pragma once

#include <string_view>

#include "python/call.hpp"

namespace lotus {

// By what its code says. `name`: co_name.
bool may_be_region(py::Object* code, std::string_view name, std::string_view wanted);
// By a call of it, of which the answer is kept.
bool is_region(const Call& call, std::string_view wanted);

}  // namespace lotus
