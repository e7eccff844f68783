// C methods of extension modules that are counted: which they are, a row for each type or module.
#pragma once

#include "python/cpython.hpp"

namespace lotus {

// Hooks the methods of rows whose modules have been imported since the last call. Needs the GIL.
void hook_imported_modules();

}  // namespace lotus
