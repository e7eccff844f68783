#include "modules.hpp"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <cstring>

#include "recorder.hpp"

namespace lotus {
namespace {

constexpr std::size_t kMaxModules = 2048;
constexpr std::size_t kMaxBuildId = 32;  // bytes; 20 are usual

struct Module {
  std::uint64_t start, end, bias;
  std::uint32_t id;
  bool present;  // in the walk that is going on
};
constinit Module modules[kMaxModules] = {};
constinit std::size_t module_count = 0;
constinit std::uint32_t last_id = 0;
constinit unsigned long long seen_loads = 0, seen_unloads = 0;
constinit bool complete = false;  // everything that was seen is defined
constinit bool busy = false;      // a thread is in here

struct Changes {
  unsigned long long loads, unloads;
};

int read_changes(dl_phdr_info* info, std::size_t, void* result) {
  *static_cast<Changes*>(result) = {info->dlpi_adds, info->dlpi_subs};
  return 1;  // the first entry says it all
}

// The lowest and highest executable address.
Module extent(const dl_phdr_info& info) {
  Module module{UINT64_MAX, 0, info.dlpi_addr, 0, true};
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const std::uint64_t start = info.dlpi_addr + header.p_vaddr;
    if (start < module.start) module.start = start;
    if (start + header.p_memsz > module.end) module.end = start + header.p_memsz;
  }
  return module;
}

void append_hex(char*& out, const unsigned char* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    *out++ = "0123456789abcdef"[bytes[i] >> 4];
    *out++ = "0123456789abcdef"[bytes[i] & 15];
  }
}

// Looks for the GNU build id among the notes in [at, end).
std::size_t build_id_in(const unsigned char* at, const unsigned char* end, char* text) {
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const auto* name = at + sizeof note;
    const std::uint64_t name_bytes = (std::uint64_t{note.n_namesz} + 3) & ~3u;
    const std::uint64_t body_bytes = (std::uint64_t{note.n_descsz} + 3) & ~3u;
    if (name_bytes + body_bytes > static_cast<std::uint64_t>(end - name)) return 0;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      char* out = text;
      append_hex(out, name + name_bytes, note.n_descsz < kMaxBuildId ? note.n_descsz : kMaxBuildId);
      return static_cast<std::size_t>(out - text);
    }
    at = name + name_bytes + body_bytes;
  }
  return 0;
}

std::string_view build_id(const dl_phdr_info& info, char (&text)[2 * kMaxBuildId]) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const unsigned char*>(info.dlpi_addr + header.p_vaddr);
    const std::size_t size = build_id_in(notes, notes + header.p_memsz, text);
    if (size > 0) return {text, size};
  }
  return {};
}

Module* find(const Module& module) {
  for (std::size_t i = 0; i < module_count; ++i)
    if (modules[i].bias == module.bias && modules[i].start == module.start && modules[i].end == module.end)
      return &modules[i];
  return nullptr;
}

struct Walk {
  std::string_view program;  // path of the executable, which the loader's list calls ""
  bool first = true;
  bool complete = true;
};

int visit(dl_phdr_info* info, std::size_t, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  const bool is_program = walk.first;
  walk.first = false;
  Module module = extent(*info);
  if (module.end == 0) return 0;
  if (Module* known = find(module); known != nullptr) {
    known->present = true;
    return 0;
  }
  if (module_count == kMaxModules) return 0;
  const std::string_view name = info->dlpi_name != nullptr ? info->dlpi_name : "";
  char id_text[2 * kMaxBuildId];
  module.id = last_id + 1;
  // Hundreds at once fill a small ring; an operation that is defined then would stay without its name.
  if (!process.segment.definitions.half_empty() ||
      !define<Kind::module>(module.id, module.start, module.end, module.bias,
                            name.empty() && is_program ? walk.program : name, build_id(*info, id_text))) {
    walk.complete = false;  // the rest at the next call
    return 1;
  }
  ++last_id;
  modules[module_count++] = module;
  return 0;
}

void drop_absent() {
  for (std::size_t i = 0; i < module_count;) {
    if (!modules[i].present && define<Kind::module_gone>(modules[i].id))
      modules[i] = modules[--module_count];
    else
      ++i;
  }
}

void walk_modules(const Changes& changes) {
  char program[4096];
  const ssize_t size = readlink("/proc/self/exe", program, sizeof program);
  Walk walk;
  walk.program = {program, size > 0 ? static_cast<std::size_t>(size) : 0};
  for (std::size_t i = 0; i < module_count; ++i) modules[i].present = false;
  dl_iterate_phdr(visit, &walk);
  complete = walk.complete;
  if (!complete) return;
  drop_absent();
  seen_loads = changes.loads;
  seen_unloads = changes.unloads;
}

}  // namespace

void define_modules() {
  if (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) return;
  Changes now{};
  dl_iterate_phdr(read_changes, &now);
  if (!complete || now.loads != seen_loads || now.unloads != seen_unloads) walk_modules(now);
  __atomic_clear(&busy, __ATOMIC_RELEASE);
}

void forget_modules() {
  module_count = 0;
  last_id = 0;
  complete = false;
  busy = false;
}

}  // namespace lotus
