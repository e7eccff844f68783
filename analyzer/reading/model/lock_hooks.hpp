// Which native entry points are locks of Python that were waited for.
#pragma once

#include <string_view>

namespace lotus::analyzer {

// The names that preload/native/locks.cpp gives them.
inline bool is_lock_hook(std::string_view name) {
  return name == "threading.Lock" || name == "threading.RLock" || name == "multiprocessing.Lock";
}

}  // namespace lotus::analyzer
