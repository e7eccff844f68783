#include "system/symbols.hpp"

#include <cstdint>
#include <cstring>

namespace lotus {
namespace {

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

// What is not defined stands before what the hash table holds.
bool imports_symbol(const Loaded& object, std::string_view name) {
  const auto* header = table_of<HashTable>(*object.map, DT_GNU_HASH);
  const auto* symbols = table_of<Elf64_Sym>(*object.map, DT_SYMTAB);
  const auto* strings = table_of<char>(*object.map, DT_STRTAB);
  if (header == nullptr || symbols == nullptr || strings == nullptr) return false;
  for (std::uint32_t i = 1; i < header->first; ++i)
    if (symbols[i].st_shndx == SHN_UNDEF && name == strings + symbols[i].st_name) return true;
  return false;
}

}  // namespace lotus
