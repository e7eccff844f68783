#include "system/loaded.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstring>

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

// Address of a table that the dynamic section names. The loader has relocated these entries.
template <class T>
const T* table_of(const link_map& map, std::int64_t tag) {
  for (const Elf64_Dyn* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == tag)
      return reinterpret_cast<const T*>(entry->d_un.d_ptr < map.l_addr ? entry->d_un.d_ptr + map.l_addr
                                                                       : entry->d_un.d_ptr);
  return nullptr;
}

std::uint32_t gnu_hash(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

// DT_GNU_HASH: bucket count, first symbol, bloom words and shift; bloom filter, buckets, chains.
struct HashTable {
  std::uint32_t buckets, first, bloom_words, bloom_shift;
};

bool is_function(const Elf64_Sym& entry) {
  const unsigned type = ELF64_ST_TYPE(entry.st_info);
  return entry.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_NOTYPE) && entry.st_value != 0;
}

}  // namespace

std::string_view Loaded::path() const {
  return map == nullptr || map->l_name == nullptr ? std::string_view{} : std::string_view{map->l_name};
}

void prepare_loaded() { find_object = reinterpret_cast<FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object")); }

Loaded find_loaded_unlocked(const void* address) {
  FoundObject found{};
  if (find_object == nullptr || find_object(const_cast<void*>(address), &found) != 0) return {};
  return {found.map, found.start, found.end};
}

Loaded find_loaded(const void* address) {
  if (find_object != nullptr) [[likely]]
    return find_loaded_unlocked(address);
  Dl_info info{};
  void* map = nullptr;
  if (dladdr1(address, &info, &map, RTLD_DL_LINKMAP) == 0) return {};
  return {static_cast<link_map*>(map), info.dli_fbase, nullptr};
}

Symbol find_symbol(const Loaded& object, const char* name) {
  const link_map& map = *object.map;
  const auto* header = table_of<HashTable>(map, DT_GNU_HASH);
  const auto* symbols = table_of<Elf64_Sym>(map, DT_SYMTAB);
  const auto* strings = table_of<char>(map, DT_STRTAB);
  const auto* versions = table_of<Elf64_Half>(map, DT_VERSYM);
  if (header == nullptr || symbols == nullptr || strings == nullptr || header->buckets == 0) return {};
  const auto* buckets = reinterpret_cast<const std::uint32_t*>(
      reinterpret_cast<const std::uint64_t*>(header + 1) + header->bloom_words);
  const std::uint32_t* chains = buckets + header->buckets;
  const std::uint32_t hash = gnu_hash(name);
  std::uint32_t index = buckets[hash % header->buckets];
  if (index < header->first) return {};
  for (;; ++index) {
    const std::uint32_t stored = chains[index - header->first];
    const Elf64_Sym& entry = symbols[index];
    constexpr Elf64_Half kHidden = 0x8000;  // not the default version
    const bool hidden = versions != nullptr && (versions[index] & kHidden) != 0;
    if ((stored | 1) == (hash | 1) && is_function(entry) && !hidden &&
        std::strcmp(strings + entry.st_name, name) == 0)
      return {&entry, strings + entry.st_name, reinterpret_cast<const char*>(map.l_addr), entry.st_value};
    if ((stored & 1) != 0) return {};
  }
}

void* bind_for_caller(const void* caller, const char* name, const void* ours) {
  const int saved = errno;
  // The global scope comes first, as in any binding; then the caller's own dependencies.
  void* found = dlsym(RTLD_NEXT, name);
  const Loaded object = found == nullptr ? find_loaded(caller) : Loaded{};
  if (object) {
    void* handle = dlopen(object.path().empty() ? nullptr : object.map->l_name, RTLD_NOLOAD | RTLD_LAZY);
    if (handle != nullptr) {
      found = dlsym(handle, name);
      dlclose(handle);
    }
  }
  errno = saved;
  return found == ours ? nullptr : found;
}

}  // namespace lotus
