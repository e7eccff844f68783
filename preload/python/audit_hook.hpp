// CPython's list of audit hooks, and the entry in it that is ours.
#pragma once

#include "python/cpython.hpp"

namespace lotus {

using AuditHook = int (*)(const char* event, py::Object* arguments, void*);

// Adds the hook, before Py_Initialize. False: there is no CPython in this process.
bool add_audit_hook(AuditHook hook);

// Takes the hook out of the list, for ever: beside one, each id() of the program takes twice as long. From
// inside the hook, too. Where the list is not found, the hook stays.
void remove_audit_hook();

// To be called at each event: prepares for the one that says that the list is going to be freed.
void watch_audit_hooks(const char* event);

}  // namespace lotus
