#include "symbols.hpp"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <cstring>

#include "names/demangle.hpp"
#include "names/dwarf_names.hpp"
#include "names/symbol_table.hpp"

namespace lotus::collector {
namespace {

constexpr std::uint64_t kPage = 4096;

// The callback by which libdwfl gets the file of the module.
int find_elf(Dwfl_Module*, void** user, const char*, Dwarf_Addr, char** file_name, Elf** elf) {
  const ElfFile& file = *static_cast<const ElfFile*>(*user);
  const auto image = file.image();
  // Never written to: libelf copies what it must change.
  *elf = elf_memory(const_cast<char*>(reinterpret_cast<const char*>(image.data())), image.size());
  // Debugging information is looked for beside it.
  *file_name = file.path().empty() ? nullptr : strdup(file.path().c_str());
  return -1;
}

const Dwfl_Callbacks kCallbacks{find_elf, dwfl_standard_find_debuginfo, dwfl_offline_section_address,
                                nullptr};

}  // namespace

struct Symbols::Sources {
  Dwfl* dwfl = nullptr;
  Dwfl_Module* module = nullptr;
  Demangler demangler;
  std::unique_ptr<SymbolTable> table;
  std::unique_ptr<DwarfNames> dwarf;
  Dwarf_Addr dwarf_bias = 0;
  std::uint64_t start = 0;  // where libdwfl places the file's address 0

  ~Sources() {
    dwarf.reset();
    table.reset();
    if (dwfl != nullptr) dwfl_end(dwfl);
  }

  bool open(const Binary& binary, const ElfFile& file) {
    static const unsigned version = elf_version(EV_CURRENT);
    dwfl = version != EV_NONE ? dwfl_begin(&kCallbacks) : nullptr;
    if (dwfl == nullptr) return false;
    dwfl_report_begin(dwfl);
    module = dwfl_report_module(dwfl, binary.path.c_str(), file.lowest_address() & ~(kPage - 1),
                                file.highest_address());
    dwfl_report_end(dwfl, nullptr, nullptr);
    if (module == nullptr) return false;
    void** user = nullptr;
    dwfl_module_info(module, &user, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    *user = const_cast<ElfFile*>(&file);
    Dwarf_Addr bias = 0;
    if (dwfl_module_getelf(module, &bias) == nullptr) return false;
    start = bias;
    table = std::make_unique<SymbolTable>(module);
    return true;
  }

  std::vector<NamedFrame> in_dwarf(std::uint64_t offset, const char* symbol) {
    if (!dwarf) dwarf = std::make_unique<DwarfNames>(dwfl_module_getdwarf(module, &dwarf_bias), demangler);
    return dwarf->find(offset + start - dwarf_bias, symbol);
  }
};

Symbols::Symbols(const Binary& binary, const ElfFile* file)
    : base_name_(binary.path.substr(binary.path.rfind('/') + 1)), file_(file) {
  if (file == nullptr) return;
  sources_ = std::make_unique<Sources>();
  if (!sources_->open(binary, *file)) sources_.reset();
}

Symbols::~Symbols() = default;

std::vector<NamedFrame> Symbols::find(BinaryId binary, std::uint64_t offset, Unwinder& unwinder) {
  const auto extent = unwinder.function_at(binary, offset);
  if (sources_) {
    const auto* symbol =
        sources_->table->find(offset + sources_->start, extent ? extent->begin + sources_->start : 0);
    auto frames = sources_->in_dwarf(offset, symbol != nullptr ? symbol->name : nullptr);
    if (!frames.empty()) return frames;
    if (symbol != nullptr) return {{{sources_->demangler.name_of(symbol->name), "", 0, symbol->source}, 0}};
  }
  const auto begin = extent ? std::optional(extent->begin) : called_function(offset);
  const CodeName* known = begin ? known_function(*begin, extent ? extent->end - extent->begin : 0) : nullptr;
  if (known != nullptr && offset - *begin < known->bytes)
    return {{{known->name, "", 0, NameSource::code}, 0}};
  const NameSource source = begin ? NameSource::unwind_entry : NameSource::unknown;
  return {{{fmt::format("{}!{:#x}", base_name_, begin.value_or(offset)), "", 0, source}, 0}};
}

// nullptr: its code is not known.
const CodeName* Symbols::known_function(std::uint64_t begin, std::uint64_t bytes) {
  if (file_ == nullptr) return nullptr;
  const auto [slot, fresh] = known_.try_emplace(begin);
  if (fresh) slot->second = name_by_code(*file_, begin, bytes);
  return slot->second ? &*slot->second : nullptr;
}

// The beginning of a function that has no unwind entry.
std::optional<std::uint64_t> Symbols::called_function(std::uint64_t offset) {
  if (file_ == nullptr) return std::nullopt;
  if (!calls_) calls_ = std::make_unique<CallTargets>(*file_);
  return calls_->function_at(offset);
}

}  // namespace lotus::collector
