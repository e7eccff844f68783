// What a code object is, decided once from its names.
#pragma once

#include <span>

#include "python/code_info.hpp"

namespace lotus {

// Which functions have a role of their own; `roles` is not copied.
void use_roles(std::span<const Role> roles);

// Looks at a code object for the first time. Returns what to store with it: kPlain, or its CodeInfo.
void* classify(py::Object* code);

// Where a local variable is when the evaluator is called; -1: there is none of this name.
int local_index(py::Object* code, const char* name);

// Makes the CodeInfo of a plain code object that turned up inside a fetch. nullptr: no room.
CodeInfo* describe_code(py::Object* code);

// Takes back the CodeInfo of a code object that is being freed.
void release_code_info(void* extra);

}  // namespace lotus
