#include "python/interpreter.hpp"

#include "system/loader.hpp"

namespace lotus::py {
namespace {

constinit const char* path = nullptr;  // the loader's own text: an interpreter is not unloaded

}  // namespace

bool is_interpreter(const Loaded& object) {
  return object && static_cast<bool>(find_symbol(object, "PySys_AddAuditHook"));
}

void use_interpreter(const Loaded& library) { path = library.map->l_name; }

bool is_embedded() { return path != nullptr; }

void* symbol(const char* name) { return path != nullptr ? symbol_of(path, name) : global_symbol(name); }

}  // namespace lotus::py
