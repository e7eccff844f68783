#pragma once

#include <sys/auxv.h>

namespace lotus::collector {

// A program without a loader, as in the wheel, can load no library.
inline bool is_static() { return getauxval(AT_BASE) == 0; }

}  // namespace lotus::collector
