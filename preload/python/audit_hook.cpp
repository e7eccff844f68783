#include "python/audit_hook.hpp"

#include <link.h>

#include <cstddef>
#include <cstring>

#include "python/interpreter.hpp"
#include "system/loader.hpp"

namespace lotus {
namespace {

// PyMemAllocatorEx.
struct Allocator {
  void* context;
  void* (*allocate)(void*, std::size_t);
  void* (*allocate_zeroed)(void*, std::size_t, std::size_t);
  void* (*reallocate)(void*, void*, std::size_t);
  void (*release)(void*, void*);
};
constexpr int kRawDomain = 0;  // PYMEM_DOMAIN_RAW

// CPython chooses its allocator (-X dev, PYTHONMALLOC=debug, an embedding program) after our hook was added,
// and frees the entry by it, which aborts. So it is remembered who allocated the entry.
struct Entry {
  void (*get)(int, Allocator*);
  void (*set)(int, Allocator*);
  Allocator maker;   // who allocated it
  Allocator chosen;  // by CPython, since
  void* memory;
};
constinit Entry entry{};

void* note_allocated(void* context, std::size_t bytes) {
  void* memory = entry.maker.allocate(context, bytes);
  if (entry.memory == nullptr) entry.memory = memory;
  return memory;
}

void release_entry(void* context, void* memory) {
  if (memory != entry.memory) return entry.chosen.release(context, memory);
  entry.set(kRawDomain, &entry.chosen);
  entry.memory = nullptr;
  entry.maker.release(entry.maker.context, memory);
}

}  // namespace

bool add_audit_hook(AuditHook hook) {
  int (*add)(AuditHook, void*) = nullptr;
  if (!py::find(add, "PySys_AddAuditHook")) return false;
  if (!py::find(entry.get, "PyMem_GetAllocator") || !py::find(entry.set, "PyMem_SetAllocator")) return false;
  entry.get(kRawDomain, &entry.maker);
  Allocator noting = entry.maker;
  noting.allocate = note_allocated;
  entry.set(kRawDomain, &noting);
  add(hook, nullptr);
  entry.set(kRawDomain, &entry.maker);
  return true;
}

void remove_audit_hook() {
  void** const runtime = static_cast<void**>(py::symbol("_PyRuntime"));
  const ElfW(Sym)* const symbol = runtime != nullptr ? symbol_at(runtime) : nullptr;
  if (symbol == nullptr || entry.memory == nullptr) return;
  // The list's head is somewhere in the interpreter's state, and ours is its first entry: it was made first.
  void** head = nullptr;
  int found = 0;
  for (std::size_t i = 0; i < symbol->st_size / sizeof(void*); ++i) {
    if (runtime[i] != entry.memory) continue;
    head = &runtime[i];
    ++found;
  }
  if (found != 1) return;
  // An entry begins with the next one. It is not freed: who calls us may be looking at it.
  __atomic_store_n(head, *static_cast<void**>(entry.memory), __ATOMIC_RELEASE);
  entry.memory = nullptr;
}

void watch_audit_hooks(const char* event) {
  if (entry.memory == nullptr || std::strcmp(event, "cpython._PySys_ClearAuditHooks") != 0) return;
  entry.get(kRawDomain, &entry.chosen);
  if (entry.chosen.release == entry.maker.release && entry.chosen.context == entry.maker.context) return;
  Allocator releasing = entry.chosen;
  releasing.release = release_entry;
  entry.set(kRawDomain, &releasing);
}

}  // namespace lotus
