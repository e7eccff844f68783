// The file that the open sample of a thread reads.
#pragma once

#include "python/cpython.hpp"

namespace lotus {

// Records the file that the open sample reads, once. `path`: str or bytes.
void note_path(py::Object* path);

// The same for a data file that C code has opened; recorded when the innermost span is left.
void note_opened(const char* path);

// Whether a file is one of the program's data, not one that Python or the system opens on its own account.
bool is_data_file(const char* path);

}  // namespace lotus
