// What is loaded in this process, told to the collector as definitions `module` and `module_gone`: it unwinds
// and names the addresses of snapshots by them, also when this process is long gone.
#pragma once

#include <cstdint>

namespace lotus {

// Defines what was loaded or unloaded since the last call: 25 µs when nothing was. Any thread; not in a
// signal handler. Takes no lock of the loader's, see mappings.hpp.
void define_modules();

// The same, if what is loaded at this address is not defined yet: 0.1 µs if it is.
void define_module_at(std::uintptr_t address);

// In a forked child: everything is to be defined anew, which takes few reads where it is what the parent
// knew.
void forget_modules();

}  // namespace lotus
