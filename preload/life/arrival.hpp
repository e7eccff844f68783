// An interpreter that comes later: a program that embeds Python loads it as a library (PyInstaller,
// reticulate).
#pragma once

namespace lotus {

// Calls `begin` once such an interpreter is being initialized, before it has any thread. For a process that
// has no interpreter at its start.
void expect_interpreter(void (*begin)());

}  // namespace lotus
