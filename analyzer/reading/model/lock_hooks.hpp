// Which native entry points are Python's own that cost without doing work: locks that were waited for, and
// gc.collect().
#pragma once

#include <string_view>

namespace lotus::analyzer {

// The names that preload/native/locks.cpp gives them.
inline bool is_shared_lock_hook(std::string_view name) {  // of several processes
  return name == "multiprocessing.Lock";
}
inline bool is_lock_hook(std::string_view name) {
  return name == "threading.Lock" || name == "threading.RLock" || is_shared_lock_hook(name);
}

inline bool is_collection_hook(std::string_view name) { return name == "collect"; }

}  // namespace lotus::analyzer
