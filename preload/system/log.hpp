// What this library says: one line on the process's stderr, diagnostics in a log.
#pragma once

namespace lotus {

// Remembers which file the process's stderr is, so that a line never lands in what became of
// descriptor 2 later. Called before the program's own code runs.
void remember_stderr();

// "lotus: ..." as one write to stderr, if descriptor 2 still is what it was at the start. At most one
// such line per process tree is printed: callers see to it.
void say(const char* line);

// Where note() writes, nullptr: nowhere. `path` is not copied.
void log_to(const char* path);

// A diagnostic line for the log.
void note(const char* line);

}  // namespace lotus
