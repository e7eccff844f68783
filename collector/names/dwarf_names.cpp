#include "dwarf_names.hpp"

#include <dwarf.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace lotus::collector {
namespace {

constexpr int kMaxInlineDepth = 64;

bool holds_functions(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
         tag == DW_TAG_union_type || tag == DW_TAG_module || tag == DW_TAG_subprogram ||
         tag == DW_TAG_lexical_block;
}

std::uint64_t number(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_attr(&die, attribute, &found) == nullptr || dwarf_formudata(&found, &value) != 0) return 0;
  return value;
}

// The inlined function at `address` among the children of `die`, also in nested blocks.
bool inlined_at(Dwarf_Die& die, std::uint64_t address, Dwarf_Die& found, int depth) {
  Dwarf_Die child;
  if (depth > kMaxInlineDepth || dwarf_child(&die, &child) != 0) return false;
  do {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) continue;
    if (dwarf_haspc(&child, address) <= 0) continue;
    if (tag == DW_TAG_lexical_block) {
      if (inlined_at(child, address, found, depth + 1)) return true;
      continue;
    }
    found = child;
    return true;
  } while (dwarf_siblingof(&child, &child) == 0);
  return false;
}

}  // namespace

DwarfNames::DwarfNames(Dwarf* dwarf, Demangler& demangler) : demangler_(demangler) {
  if (dwarf == nullptr) return;
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  std::uint8_t type = 0;
  while (dwarf_get_units(dwarf, unit, &unit, nullptr, &type, &die, nullptr) == 0)
    if (dwarf_tag(&die) == DW_TAG_compile_unit) add(units_, die);
  std::sort(units_.begin(), units_.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
}

void DwarfNames::add(Extents& extents, Dwarf_Die& die) {
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  std::ptrdiff_t at = 0;
  while ((at = dwarf_ranges(&die, at, &base, &begin, &end)) > 0)
    if (begin < end && begin != 0) extents.push_back({begin, end, die});
}

Dwarf_Die* DwarfNames::smallest(Extents& extents, std::uint64_t address) {
  auto at = std::upper_bound(extents.begin(), extents.end(), address,
                             [](std::uint64_t value, const Extent& extent) { return value < extent.begin; });
  Extent* best = nullptr;
  for (int back = 0; back < kMaxInlineDepth && at != extents.begin(); ++back) {
    --at;
    if (address < at->end && (best == nullptr || at->end - at->begin < best->end - best->begin)) best = &*at;
  }
  return best == nullptr ? nullptr : &best->die;
}

void DwarfNames::add_functions(Extents& extents, Dwarf_Die& parent, int depth) {
  Dwarf_Die child;
  if (depth > kMaxInlineDepth || dwarf_child(&parent, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subprogram) add(extents, child);
    if (holds_functions(tag)) add_functions(extents, child, depth + 1);
  } while (dwarf_siblingof(&child, &child) == 0);
}

DwarfNames::Extents& DwarfNames::functions_of(Dwarf_Die& unit) {
  const auto [place, is_new] = functions_.try_emplace(dwarf_dieoffset(&unit));
  if (is_new) {
    add_functions(place->second, unit, 0);
    std::sort(place->second.begin(), place->second.end(),
              [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  }
  return place->second;
}

// The demangled symbol, the same for all parts and clones of a function; empty if it is not mangled.
std::string DwarfNames::name_by_symbol(const char* symbol) {
  const std::string_view text(symbol != nullptr ? symbol : "");
  if (!text.starts_with("_Z") && !text.starts_with("_R")) return {};
  const std::string& name = demangler_.name_of(symbol);
  return name == text ? "" : name.substr(0, name.find(" [clone "));
}

FunctionName DwarfNames::name_of(Dwarf_Die& die, const char* symbol) {
  FunctionName function;
  function.source = NameSource::dwarf;
  Dwarf_Attribute found;
  const char* linkage = nullptr;
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (linkage == nullptr && dwarf_attr_integrate(&die, attribute, &found) != nullptr)
      linkage = dwarf_formstring(&found);
  function.name = linkage != nullptr ? demangler_.name_of(linkage) : name_by_symbol(symbol);
  const char* plain = dwarf_diename(&die);
  if (function.name.empty() && plain != nullptr) function.name = plain;
  if (const char* file = dwarf_decl_file(&die)) function.file = file;
  int line = 0;
  if (dwarf_decl_line(&die, &line) == 0) function.line = static_cast<std::uint64_t>(line);
  return function;
}

std::vector<NamedFrame> DwarfNames::find(std::uint64_t address, const char* symbol) {
  std::vector<NamedFrame> frames;
  Dwarf_Die* unit = smallest(units_, address);
  Dwarf_Die* function = unit == nullptr ? nullptr : smallest(functions_of(*unit), address);
  if (function == nullptr) return frames;
  // Outermost first: an inlined function lies inside of its caller.
  std::vector<Dwarf_Die> scopes{*function};
  Dwarf_Die inner;
  while (scopes.size() < kMaxInlineDepth && inlined_at(scopes.back(), address, inner, 0))
    scopes.push_back(inner);
  int line = 0;
  Dwarf_Line* row = dwarf_getsrc_die(unit, address);
  if (row != nullptr) dwarf_lineno(row, &line);
  auto at_line = static_cast<std::uint64_t>(line);
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    const bool outermost = std::next(scope) == scopes.rend();
    frames.push_back({name_of(*scope, outermost ? symbol : nullptr), at_line});
    at_line = number(*scope, DW_AT_call_line);
  }
  std::erase_if(frames, [](const NamedFrame& frame) { return frame.function.name.empty(); });
  return frames;
}

}  // namespace lotus::collector
