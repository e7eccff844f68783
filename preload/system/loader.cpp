#include "system/loader.hpp"

#include <dlfcn.h>

#include <cstddef>

namespace lotus {
namespace {

struct Functions {
  void* (*symbol)(void*, const char*);
  void* (*versioned)(void*, const char*, const char*);
  void* (*open)(const char*, int);
  int (*close)(void*);
  int (*place)(const void*, Dl_info*, void**, int);
};

// Which definition of a function is looked for: the first of all, or the first behind this object.
struct Search {
  const char* name;
  bool behind;
  void* found;
};

const ElfW(Dyn) * dynamic_section(const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i)
    if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
      return reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  return nullptr;
}

int look_into(dl_phdr_info* object, std::size_t, void* given) {
  Search& search = *static_cast<Search*>(given);
  link_map map{};
  map.l_addr = object->dlpi_addr;
  map.l_ld = const_cast<ElfW(Dyn)*>(dynamic_section(*object));
  if (map.l_ld == nullptr) return 0;
  if (map.l_ld == _DYNAMIC) search.behind = false;
  if (search.behind || map.l_ld == _DYNAMIC) return 0;
  const Symbol symbol = find_symbol({&map}, search.name);
  if (symbol) search.found = symbol.address();
  return symbol ? 1 : 0;
}

void* look_for(const char* name, bool behind) {
  Search search{name, behind, nullptr};
  dl_iterate_phdr(look_into, &search);
  return search.found;
}

template <class Function>
void find(Function& target, const char* name) {
  target = reinterpret_cast<Function>(look_for(name, false));
}

// Those of libdl.so.2 may come with an object that is loaded later. May run in two threads at once: both find
// the same.
const Functions& functions() {
  static constinit Functions found{};
  if (found.symbol != nullptr) return found;
  find(found.versioned, "dlvsym");
  find(found.open, "dlopen");
  find(found.close, "dlclose");
  find(found.place, "dladdr1");
  find(found.symbol, "dlsym");
  return found;
}

}  // namespace

void* global_symbol(const char* name) {
  const auto dlsym = functions().symbol;
  return dlsym != nullptr ? dlsym(RTLD_DEFAULT, name) : look_for(name, false);
}

// RTLD_NEXT goes by the address that dlsym() returns to: only functions of this object may call this one, as
// it may end in a jump to dlsym().
void* next_symbol(const char* name) {
  const auto dlsym = functions().symbol;
  return dlsym != nullptr ? dlsym(RTLD_NEXT, name) : look_for(name, true);
}

void* libc_symbol(const char* name, const char* version) {
  const auto dlvsym = functions().versioned;
  void* found = version != nullptr && dlvsym != nullptr ? dlvsym(RTLD_NEXT, name, version) : nullptr;
  if (found == nullptr) found = next_symbol(name);
  return found != nullptr ? found : look_for(name, true);
}

void* symbol_of(const char* path, const char* name) {
  const Functions& own = functions();
  if (own.open == nullptr || own.close == nullptr || own.symbol == nullptr) return nullptr;
  void* const handle = own.open(path, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return nullptr;
  void* const found = own.symbol(handle, name);
  own.close(handle);
  return found;
}

Loaded object_at(const void* address) {
  const auto dladdr1 = functions().place;
  Dl_info info{};
  void* map = nullptr;
  if (dladdr1 == nullptr || dladdr1(address, &info, &map, RTLD_DL_LINKMAP) == 0) return {};
  return {static_cast<link_map*>(map), info.dli_fbase, nullptr};
}

const ElfW(Sym) * symbol_at(const void* address) {
  const auto dladdr1 = functions().place;
  Dl_info info{};
  void* symbol = nullptr;
  if (dladdr1 == nullptr || dladdr1(address, &info, &symbol, RTLD_DL_SYMENT) == 0) return nullptr;
  return static_cast<const ElfW(Sym)*>(symbol);
}

}  // namespace lotus
