#include "system/loaded.hpp"

#include <cerrno>

#include "system/loader.hpp"

namespace lotus {
namespace {

// struct dl_find_object of glibc 2.35 and later; older ones have not got the function.
struct FoundObject {
  unsigned long long flags;
  void* start;
  void* end;
  link_map* map;
  void* rest[12];
};
using FindObject = int (*)(void*, FoundObject*);
constinit FindObject find_object = nullptr;

}  // namespace

void prepare_loaded() { find_object = reinterpret_cast<FindObject>(global_symbol("_dl_find_object")); }

Loaded find_loaded_unlocked(const void* address) {
  FoundObject found{};
  if (find_object == nullptr || find_object(const_cast<void*>(address), &found) != 0) return {};
  return {found.map, found.start, found.end};
}

Loaded find_loaded(const void* address) {
  if (find_object != nullptr) [[likely]]
    return find_loaded_unlocked(address);
  return object_at(address);
}

void* bind_for_caller(const void* caller, const char* name, const void* ours) {
  const int saved = errno;
  // The global scope comes first, as in any binding; then the caller's own dependencies.
  void* found = next_symbol(name);
  const Loaded object = found == nullptr ? find_loaded(caller) : Loaded{};
  if (object) found = symbol_of(object.path().empty() ? nullptr : object.map->l_name, name);
  errno = saved;
  return found == ours ? nullptr : found;
}

}  // namespace lotus
