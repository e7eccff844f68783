// The dynamic loader's functions, looked up in what is loaded instead of linked: before glibc 2.34 they are
// in libdl.so.2, which not every program has, and musl lacks some of them. A library that named them could
// not be loaded everywhere. The functions here take the loader's lock.
#pragma once

#include <link.h>

#include "system/symbols.hpp"

namespace lotus {

// What dlsym() finds with RTLD_DEFAULT; nullptr: nothing.
void* global_symbol(const char* name);

// What dlsym() finds with RTLD_NEXT, behind liblotus.so.
void* next_symbol(const char* name);

// The same for a function of libc, of which there is one in each process: in a version, if dlvsym() finds
// that, and also in a libpthread.so.0 that was loaded later, for one object alone.
void* libc_symbol(const char* name, const char* version);

// What an object that is loaded under this path, and what it depends on, have by that name. nullptr as path:
// the main program.
void* symbol_of(const char* path, const char* name);

// The object that holds an address, and the symbol that does. Nothing where the loader does not tell (musl).
Loaded object_at(const void* address);
const ElfW(Sym) * symbol_at(const void* address);

}  // namespace lotus
