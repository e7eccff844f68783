#include "symbol_table.hpp"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

namespace lotus::collector {
namespace {

constexpr int kLookBack = 16;  // symbols that may begin inside of the function looked for

// Order of preference among the names of one address.
struct Rank {
  int kind, binding;
  std::size_t underscores, length;
};

struct SymbolName {
  SymbolTable::Symbol symbol;
  Rank rank;
};

Rank rank_of(const GElf_Sym& symbol, const char* name) {
  const int type = GELF_ST_TYPE(symbol.st_info);
  const int binding = GELF_ST_BIND(symbol.st_info);
  const int order = binding == STB_LOCAL ? 2 : binding == STB_WEAK ? 1 : 0;
  return {type == STT_NOTYPE ? 1 : 0, order, std::strspn(name, "_"), std::strlen(name)};
}

bool before(const SymbolName& a, const SymbolName& b) {
  const auto key = [](const SymbolName& c) {
    return std::make_tuple(c.symbol.begin, c.rank.kind, c.rank.binding, c.rank.underscores, c.rank.length,
                           std::string_view(c.symbol.name));
  };
  return key(a) < key(b);
}

bool is_code(const GElf_Sym& symbol, Elf* elf, GElf_Word section) {
  const int type = GELF_ST_TYPE(symbol.st_info);
  if (type == STT_FUNC || type == STT_GNU_IFUNC) return section != SHN_UNDEF;
  if (type != STT_NOTYPE || elf == nullptr || section == SHN_UNDEF || section >= SHN_LORESERVE) return false;
  GElf_Shdr header;
  Elf_Scn* scn = elf_getscn(elf, section);
  return scn != nullptr && gelf_getshdr(scn, &header) != nullptr && (header.sh_flags & SHF_EXECINSTR) != 0;
}

NameSource source_of(Elf* elf) {
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf, scn)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(scn, &header) != nullptr && header.sh_type == SHT_SYMTAB) return NameSource::symtab;
  }
  return NameSource::dynsym;
}

}  // namespace

SymbolTable::SymbolTable(Dwfl_Module* module) {
  std::vector<SymbolName> all;
  std::map<Elf*, NameSource> sources;
  const int count = dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = 0;
    Elf* elf = nullptr;
    const char* name = dwfl_module_getsym_info(module, i, &symbol, &address, &section, &elf, nullptr);
    if (name == nullptr || *name == '\0' || elf == nullptr || !is_code(symbol, elf, section)) continue;
    const auto [source, is_new] = sources.try_emplace(elf, NameSource::dynsym);
    if (is_new) source->second = source_of(elf);
    all.push_back({{address, address + symbol.st_size, name, source->second}, rank_of(symbol, name)});
  }
  std::sort(all.begin(), all.end(), before);
  for (const SymbolName& candidate : all) {
    if (symbols_.empty() || symbols_.back().begin != candidate.symbol.begin)
      symbols_.push_back(candidate.symbol);
    else
      symbols_.back().end = std::max(symbols_.back().end, candidate.symbol.end);
  }
}

const SymbolTable::Symbol* SymbolTable::find(std::uint64_t address, std::uint64_t function_begin) const {
  auto at = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                             [](std::uint64_t value, const Symbol& symbol) { return value < symbol.begin; });
  for (int back = 0; back < kLookBack && at != symbols_.begin(); ++back) {
    --at;
    if (address < at->end) return &*at;
    if (at->end == at->begin && at->begin >= function_begin && back == 0) return &*at;
  }
  return nullptr;
}

}  // namespace lotus::collector
