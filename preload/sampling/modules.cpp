#include "sampling/modules.hpp"

#include <elf.h>
#include <link.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "record/recorder.hpp"
#include "system/file_status.hpp"
#include "system/loaded.hpp"
#include "system/mappings.hpp"

namespace lotus {
namespace {

constexpr std::size_t kMaxModules = 2048;
constexpr std::size_t kMaxBuildId = 32;  // bytes; 20 are usual

struct Module {
  std::uint64_t base = 0, device = 0, inode = 0;  // where the file's beginning is mapped, and which file
  std::uint64_t start = 0, end = 0, bias = 0;     // lowest and highest executable address
  std::uint32_t id = 0;
  std::uint32_t text = 0;  // in `texts`: name, then build id
  std::uint16_t name_bytes = 0, build_id_bytes = 0;
  bool present = false;          // in the walk that is going on
  std::uint32_t defined_in = 0;  // process.generation plus 1, so that a forked child need not change it
};
constinit Module modules[kMaxModules] = {};
// A child that is forked has what it inherits from here: to read each file anew takes it 5 ms.
constinit char texts[128 * 1024] = {};
constinit std::size_t texts_used = 0;
constexpr std::uint32_t kNoTexts = UINT32_MAX;
constinit std::size_t module_count = 0;
constinit std::uint32_t last_id = 0;
constinit std::uint64_t seen_code_kib = 0;
constinit bool complete = false;  // everything that was seen is defined
constinit bool inherited =
    false;  // the table is what the parent, which forked, had defined of all that it had mapped
// The process that had defined what is in the table, when it had, and which namespace says its pid. A forked
// child refers to it.
struct Definer {
  std::uint32_t pid = 0;
  std::uint64_t created = 0, at = 0;  // ticks
  std::uint64_t pid_namespace = 0;
};
constinit Definer definer{};
constinit std::uint32_t referred_to = 0;  // the last id of those that this process need not define
constinit bool busy = false;              // a thread is in here, and has these to itself: stacks may be small
constinit char mapped_path[4096] = {};
constinit char name_text[4096] = {};

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

// An ELF file that is mapped from its beginning on.
class Image {
 public:
  Image(const OwnMemory& memory, std::uint64_t base) : memory_(memory) {
    ElfW(Ehdr) header;
    if (!memory.read(base, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phnum > kMostHeaders)
      return;
    const std::size_t bytes = header.e_phnum * sizeof(ElfW(Phdr));
    if (memory.read(base + header.e_phoff, headers_, bytes) != bytes) return;
    count_ = header.e_phnum;
    for (std::size_t i = 0; i < count_; ++i)
      if (headers_[i].p_type == PT_LOAD) {  // the first one holds the file's beginning
        bias_ = base - (headers_[i].p_vaddr - headers_[i].p_offset);
        return;
      }
    count_ = 0;
  }

  std::uint64_t bias() const { return bias_; }

  // Lowest and highest executable address; false: there is none.
  bool extent(std::uint64_t& start, std::uint64_t& end) const {
    start = UINT64_MAX;
    end = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const ElfW(Phdr)& header = headers_[i];
      if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
      const std::uint64_t from = bias_ + header.p_vaddr;
      start = from < start ? from : start;
      end = from + header.p_memsz > end ? from + header.p_memsz : end;
    }
    return start < end;
  }

  std::string_view build_id(char (&text)[2 * kMaxBuildId]) const {
    unsigned char notes[1024];
    for (std::size_t i = 0; i < count_; ++i) {
      const ElfW(Phdr)& header = headers_[i];
      if (header.p_type != PT_NOTE) continue;
      const std::size_t wanted = header.p_memsz < sizeof notes ? header.p_memsz : sizeof notes;
      const std::size_t bytes = memory_.read(bias_ + header.p_vaddr, notes, wanted);
      const std::size_t size = build_id_in(notes, notes + bytes, text);
      if (size > 0) return {text, size};
    }
    return {};
  }

 private:
  static constexpr std::size_t kMostHeaders = 64;
  const OwnMemory& memory_;
  ElfW(Phdr) headers_[kMostHeaders];
  std::size_t count_ = 0;
  std::uint64_t bias_ = 0;
};

// The loader's name of what is at an address, which says by which link it was found: libjpeg.so.62, not
// libjpeg.so.62.3.0. Empty: not known. `text`: where it is put.
template <std::size_t N>
std::string_view loaders_name(const OwnMemory& memory, std::uint64_t address, char (&text)[N]) {
  struct {  // the beginning of a link_map
    std::uint64_t bias, name;
  } map;
  const Loaded object = find_loaded_unlocked(reinterpret_cast<const void*>(address));
  if (!object || !memory.read(reinterpret_cast<std::uint64_t>(object.map), map)) return {};
  const std::size_t bytes = memory.read(map.name, text, N);
  return bytes == 0 ? std::string_view{} : std::string_view{text, strnlen(text, bytes)};
}

// Nobody else changes anything in this process meanwhile.
bool is_only_thread() {
  struct stat tasks {};
  return file_status("/proc/self/task", tasks) && tasks.st_nlink == 2 + 1;
}

// The loader's list as it was at the last walk, to find out in a forked child whether it is what it was. Read
// like the memory of another process where another thread may be loading: that takes 2 µs for each piece.
class LoadedList {
 public:
  // Follows the list; a system call for each object.
  void remember(const OwnMemory& memory) {
    Map map{};
    auto at =
        reinterpret_cast<std::uint64_t>(find_loaded_unlocked(reinterpret_cast<const void*>(&own_pid)).map);
    for (std::size_t i = 0; at != 0 && i < kMost && memory.read(at, map) && map.previous != 0; ++i)
      at = map.previous;
    const bool from_the_first = map.previous == 0;  // the program itself, which stays
    for (count_ = 0; at != 0 && count_ < kMost && memory.read(at, map); at = map.next)
      objects_[count_++] = at;
    fingerprint_ = at == 0 && from_the_first && count_ > 0 ? fingerprint() : 0;
  }
  bool is_as_remembered() {
    if (fingerprint_ == 0) return false;
    return (is_only_thread() ? fingerprint_alone() : fingerprint()) == fingerprint_;
  }

 private:
  struct Map {  // the beginning of a link_map
    std::uint64_t bias, name, dynamic, next, previous;
  };
  struct Name {  // and what lies behind a shorter one
    char text[192];
  };
  static constexpr std::size_t kMost = 1024, kAtOnce = 64;

  // Of where an object lies, its neighbours and its name.
  static void mix(std::uint64_t& hash, const Map& map, const char* name) {
    const auto add = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15; };
    for (const std::uint64_t value : {map.bias, map.dynamic, map.next, map.previous}) add(value);
    for (const char* c = name; c < name + sizeof(Name) && *c != 0; ++c) add(static_cast<unsigned char>(*c));
  }

  // 0: not known.
  std::uint64_t fingerprint() {
    std::uint64_t hash = count_;
    for (std::size_t first = 0; first < count_; first += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, count_ - first);
      for (std::size_t i = 0; i < count; ++i)
        from_[i] = {reinterpret_cast<void*>(objects_[first + i]), sizeof(Map)};
      if (!read(maps_, count)) return 0;
      for (std::size_t i = 0; i < count; ++i)
        from_[i] = {reinterpret_cast<void*>(maps_[i].name), sizeof(Name)};
      if (!read(names_, count)) return 0;
      for (std::size_t i = 0; i < count; ++i) mix(hash, maps_[i], names_[i].text);
    }
    return hash;
  }

  // The same in the only thread. Nothing is read that the list does not hold now: an object that is gone may
  // not be there any more.
  std::uint64_t fingerprint_alone() const {
    std::uint64_t hash = count_;
    std::uint64_t listed = objects_[0];
    for (std::size_t i = 0; i < count_; ++i) {
      if (listed != objects_[i]) return 0;
      const Map& map = *reinterpret_cast<const Map*>(listed);
      if (map.name == 0) return 0;
      mix(hash, map, reinterpret_cast<const char*>(map.name));
      listed = map.next;
    }
    return hash;
  }

  template <class T>
  bool read(T* to, std::size_t count) {
    const iovec target{to, count * sizeof(T)};
    return syscall(SYS_process_vm_readv, own_pid(), &target, 1, from_, count, 0) ==
           static_cast<long>(target.iov_len);
  }

  static long own_pid() { return syscall(SYS_getpid); }

  std::uint64_t objects_[kMost] = {};
  std::size_t count_ = 0;
  std::uint64_t fingerprint_ = 0;
  iovec from_[kAtOnce] = {};  // not on the stack, which may be small
  Map maps_[kAtOnce] = {};
  Name names_[kAtOnce] = {};
};
constinit LoadedList loaded_list{};

// Keeps both texts; false: there is no room.
bool keep_texts(Module& module, std::string_view name, std::string_view build_id) {
  if (texts_used + name.size() + build_id.size() > sizeof texts) return false;
  module.text = static_cast<std::uint32_t>(texts_used);
  module.name_bytes = static_cast<std::uint16_t>(name.size());
  module.build_id_bytes = static_cast<std::uint16_t>(build_id.size());
  for (const std::string_view text : {name, build_id}) {
    std::memcpy(texts + texts_used, text.data(), text.size());
    texts_used += text.size();
  }
  return true;
}

// False: there is no room now. Hundreds at once fill a small ring; an operation that is defined then would
// stay without its name.
bool define_as(const Module& module, std::string_view name, std::string_view build_id) {
  return process.segment.definitions.half_empty() &&
         define<Kind::module>(module.id, module.start, module.end, module.bias, name, build_id);
}

bool is_defined(const Module& module) {
  return module.id <= referred_to || module.defined_in == process.generation + 1;
}

bool define_inherited(Module& module) {
  if (is_defined(module)) return true;
  const char* const name = texts + module.text;
  if (!define_as(module, {name, module.name_bytes}, {name + module.name_bytes, module.build_id_bytes}))
    return false;
  module.defined_in = process.generation + 1;
  return true;
}

class Walk {
 public:
  // Defines what is new; false: there is no room for all now.
  bool run() {
    Mapping mapping;
    while (mappings_.next(mapping)) {
      if (mapping.offset == 0 && !mapping.path.empty() && (mapping.inode != 0 || mapping.path == "[vdso]")) {
        if (!take()) return false;
        begin(mapping);
      }
      const bool same = mapping.inode == file_.inode && mapping.device == file_.device;
      executable_ = executable_ || (same && mapping.executable);
    }
    return take();
  }

 private:
  void begin(const Mapping& mapping) {
    file_ = mapping;
    executable_ = false;
    const std::string_view path =
        mapping.path == "[vdso]" ? std::string_view{"linux-vdso.so.1"} : mapping.path;
    path_bytes_ = path.size() < sizeof mapped_path ? path.size() : sizeof mapped_path;
    std::memcpy(mapped_path, path.data(), path_bytes_);
  }

  bool take() {
    if (!executable_) return true;
    executable_ = false;
    for (std::size_t i = 0; i < module_count; ++i)
      if (modules[i].base == file_.start && modules[i].inode == file_.inode &&
          modules[i].device == file_.device) {
        modules[i].present = true;
        return define_inherited(modules[i]);
      }
    return module_count == kMaxModules || add();
  }

  bool add() {
    const Image image(memory_, file_.start);
    Module module;
    module.base = file_.start;
    module.device = file_.device;
    module.inode = file_.inode;
    module.bias = image.bias();
    module.id = last_id + 1;
    module.present = true;
    module.defined_in = process.generation + 1;
    if (!image.extent(module.start, module.end)) return true;
    std::string_view name = loaders_name(memory_, module.start, name_text);
    if (name.empty()) name = {mapped_path, path_bytes_};
    char id_text[2 * kMaxBuildId];
    const std::string_view build_id = image.build_id(id_text);
    if (!define_as(module, name, build_id)) return false;
    ++last_id;
    // One whose texts find no room is unknown to a child.
    if (!keep_texts(module, name, build_id)) module.text = kNoTexts;
    modules[module_count++] = module;
    return true;
  }

  Mappings mappings_;
  OwnMemory memory_;
  Mapping file_;  // whose mappings these are; its path is kept here:
  std::size_t path_bytes_ = 0;
  bool executable_ = false;
};

void drop_absent() {
  for (std::size_t i = 0; i < module_count;) {
    if (!modules[i].present && (!is_defined(modules[i]) || define<Kind::module_gone>(modules[i].id)))
      modules[i] = modules[--module_count];
    else
      ++i;
  }
}

// Where the last snapshots were found, most are found again.
struct Extent {
  std::uint64_t start, end;
  bool holds(std::uint64_t address) const { return address >= start && address < end; }
};
constinit Extent found[4] = {};
constinit std::size_t next_found = 0;

bool is_known(std::uint64_t address) {
  for (const Extent& extent : found)
    if (extent.holds(address)) return true;
  for (std::size_t i = 0; i < module_count; ++i) {
    const Extent extent{modules[i].start, modules[i].end};
    if (!extent.holds(address)) continue;
    found[next_found++ % std::size(found)] = extent;
    return true;
  }
  return false;
}

void forget_found() {
  for (Extent& extent : found) extent = {};
}

void walk_modules(std::uint64_t code_kib) {
  for (std::size_t i = 0; i < module_count; ++i) modules[i].present = false;
  forget_found();
  inherited = false;
  complete = Walk().run();
  if (!complete) return;
  loaded_list.remember(OwnMemory{});
  drop_absent();
  seen_code_kib = code_kib;
  const SegmentHeader& header = *process.segment.header;
  definer = {header.pid, header.created.ticks, ticks_now(), header.pid_namespace};
}

// In a child that has mapped nothing since: to read /proc/self/maps takes it 3 ms.
bool can_inherit(std::uint64_t code_kib) {
  return inherited && !complete && code_kib == seen_code_kib && loaded_list.is_as_remembered();
}

// False: there is no room for all now.
bool define_all_inherited() {
  // Another namespace has its own collector, which knows nothing of the ancestor.
  if (definer.pid_namespace == process.segment.header->pid_namespace) {
    if (!define<Kind::modules_of>(definer.pid, definer.created, definer.at, module_count)) return false;
    referred_to = last_id;
    return true;
  }
  for (std::size_t i = 0; i < module_count; ++i)
    if (!define_inherited(modules[i])) return false;
  return true;
}

// One thread at a time; the others do without.
class Turn {
 public:
  Turn() : mine_(!__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) {}
  ~Turn() {
    if (mine_) __atomic_clear(&busy, __ATOMIC_RELEASE);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return mine_; }

 private:
  bool mine_;
};

}  // namespace

void define_modules() {
  const int saved = errno;
  if (const Turn turn; turn) {
    const std::uint64_t code_kib = mapped_code_kib();
    if (can_inherit(code_kib))
      complete = define_all_inherited();
    else if (!complete || code_kib != seen_code_kib)
      walk_modules(code_kib);
  }
  errno = saved;
}

void define_module_at(std::uintptr_t address) {
  const int saved = errno;
  if (const Turn turn; turn && (!complete || (!is_known(address) &&
                                              find_loaded_unlocked(reinterpret_cast<const void*>(address)))))
    walk_modules(mapped_code_kib());
  errno = saved;
}

void forget_modules() {
  inherited = !busy && (complete || inherited);
  if (busy) module_count = texts_used = 0;  // another thread was changing them, and is not here
  referred_to = 0;
  for (std::size_t i = 0; i < module_count;) {
    if (modules[i].text == kNoTexts) {
      modules[i] = modules[--module_count];
      inherited = false;
    } else {
      ++i;
    }
  }
  forget_found();
  complete = false;
  busy = false;
}

}  // namespace lotus
