// Loaded objects and their symbols, without the loader's lock: hooks look their real functions up while any
// other thread may be inside dlopen, waiting for what this one holds.
#pragma once

#include "system/symbols.hpp"

namespace lotus {

// Finds what find_loaded() needs. Called once, before any thread exists.
void prepare_loaded();

// The object that holds this address; an empty one if there is none.
Loaded find_loaded(const void* address);
// The same without any lock of the loader's; nothing before glibc 2.35.
Loaded find_loaded_unlocked(const void* address);

// What the loader would bind `name` to for a caller at this address, were liblotus.so not there; nullptr if
// nothing. Takes the loader's lock.
void* bind_for_caller(const void* caller, const char* name, const void* ours);

}  // namespace lotus
