// Where this process's interpreter is: in the program or a library that it began with, or in a library that
// was loaded later, perhaps for its caller alone.
#pragma once

#include "system/symbols.hpp"

namespace lotus::py {

// Whether an object is an interpreter that an audit hook can be added to. Takes no lock.
bool is_interpreter(const Loaded& object);

// From now on, names are those of this library.
void use_interpreter(const Loaded& library);

// A library that was loaded later is the interpreter: the program embeds Python.
bool is_embedded();

// A function or a datum of the interpreter; nullptr: it has none of this name.
void* symbol(const char* name);

template <class Target>
bool find(Target& target, const char* name) {
  target = reinterpret_cast<Target>(symbol(name));
  return target != nullptr;
}

}  // namespace lotus::py
