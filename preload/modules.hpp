// What is loaded in this process, told to the collector as definitions `module` and `module_gone`: it unwinds
// and names the addresses of snapshots by them, also when this process is long gone.
#pragma once

namespace lotus {

// Defines what was loaded or unloaded since the last call. Cheap when nothing was. Any thread; not in a
// signal handler. Takes the lock under which the loader changes its list, as throwing a C++ exception does;
// never the one that it holds while it runs constructors.
void define_modules();

// In a forked child: everything is to be defined anew.
void forget_modules();

}  // namespace lotus
