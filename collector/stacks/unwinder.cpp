#include "unwinder.hpp"

#include <libunwind.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

// Exported by libunwind for tracers, but declared in none of its public headers.
extern "C" int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t* info,
                                                  unw_proc_info_t* found, int need_unwind_info,
                                                  void* argument);

// What libunwind would resume a thread of its own process with. Its static library names it and has it not;
// nothing here resumes anything.
extern "C" int UNW_OBJ(setcontext)(const void*) { std::abort(); }

// libunwind blocks all signals around the lock of its cache: three system calls a frame, more than half of
// the time that unwinding takes. One thread unwinds and no signal handler does: there is nothing to block.
// The linker leads only calls of sigprocmask() here, which nothing else makes.
extern "C" int __wrap_sigprocmask(int, const sigset_t*, sigset_t*) { return 0; }

namespace lotus::collector {
namespace {

constexpr std::size_t kMaxFrames = 512;
constexpr std::size_t kCachedRules = std::size_t{1} << 15;  // rows of unwind tables that libunwind keeps

// What sigreturn trampolines look like: mov $15,%rax; syscall. Their caller was interrupted, it did not call.
constexpr std::uint8_t kTrampoline[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

bool table_of(BinaryId binary, const ElfFile& file, unw_dyn_info_t& info) {
  const auto rows = file.unwind_rows();
  if (rows.empty()) return false;
  const auto header_bytes = static_cast<std::uint64_t>(rows.data() - file.at(file.unwind_table(), 1).data());
  std::memset(&info, 0, sizeof info);
  info.start_ip = common_address(binary, 0);
  info.end_ip = common_address(binary + 1, 0);
  info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  info.u.rti.segbase = common_address(binary, file.unwind_table());
  info.u.rti.table_data = common_address(binary, file.unwind_table() + header_bytes);
  info.u.rti.table_len = rows.size() / sizeof(unw_word_t);
  return true;
}

}  // namespace

// libunwind's view: registers, the copied stack, and the binaries at their common addresses.
struct Unwinder::Space {
  explicit Space(Binaries& all) : binaries(all) {
    unw_accessors_t accessors{};
    accessors.find_proc_info = find_proc_info;
    accessors.put_unwind_info = [](unw_addr_space_t, unw_proc_info_t*, void*) {};
    accessors.get_dyn_info_list_addr = [](unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; };
    accessors.access_mem = access_mem;
    accessors.access_reg = access_reg;
    accessors.access_fpreg = [](unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) {
      return -UNW_EBADREG;
    };
    accessors.resume = [](unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; };
    accessors.get_proc_name = [](unw_addr_space_t, unw_word_t, char*, std::size_t, unw_word_t*, void*) {
      return -UNW_ENOINFO;
    };
    space = unw_create_addr_space(&accessors, 0);
    if (space == nullptr) throw std::runtime_error("libunwind: out of memory");
    unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
    unw_set_cache_size(space, kCachedRules, 0);
  }
  ~Space() { unw_destroy_addr_space(space); }
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t* found, int need,
                            void* argument) {
    auto& self = *static_cast<Space*>(argument);
    unw_dyn_info_t info;
    const BinaryId binary = is_common(ip) ? binary_of(ip) : 0;
    const ElfFile* file = self.binaries.file(binary);
    int result = -UNW_ENOINFO;
    if (file != nullptr && table_of(binary, *file, info))
      result = UNW_OBJ(dwarf_search_unwind_table)(as, ip, &info, found, need, argument);
    if (result < 0) self.no_rule = true;
    return result;
  }

  static int access_mem(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* argument) {
    auto& self = *static_cast<Space*>(argument);
    if (write != 0) return -UNW_EINVAL;
    return is_common(address) ? self.read_file(address, *value) : self.read_stack(address, *value);
  }

  static int access_reg(unw_addr_space_t, unw_regnum_t reg, unw_word_t* value, int write, void* argument) {
    auto& self = *static_cast<Space*>(argument);
    if (write != 0 || reg < 0 || static_cast<std::size_t>(reg) >= kRegisters || self.snapshot == nullptr)
      return -UNW_EBADREG;
    *value = self.snapshot->header.registers[reg];
    if (static_cast<std::size_t>(reg) == kRegisterRip) *value = self.to_common(*value);
    return 0;
  }

  int read_file(std::uint64_t address, unw_word_t& value) {
    const ElfFile* file = binaries.file(binary_of(address));
    if (file == nullptr) return -UNW_EINVAL;
    const auto bytes = file->from(offset_of(address));
    if (bytes.empty()) return -UNW_EINVAL;
    value = 0;
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
    return 0;
  }

  // A word that points into a module is, or may be, a return address: libunwind sees the common one.
  int read_stack(std::uint64_t address, unw_word_t& value) {
    const std::uint64_t at = address - (snapshot != nullptr ? snapshot->stack_pointer() : 0);
    if (snapshot == nullptr || at >= snapshot->stack.size() || snapshot->stack.size() - at < sizeof value) {
      missing = address;
      return -UNW_EINVAL;
    }
    std::memcpy(&value, snapshot->stack.data() + at, sizeof value);
    value = to_common(value);
    return 0;
  }

  // Addresses that are common already cannot come from a process: they are made harmless.
  std::uint64_t to_common(std::uint64_t address) const {
    if (is_common(address)) return 0;
    return modules->translate(address).value_or(address);
  }

  bool is_trampoline(std::uint64_t address) const {
    const ElfFile* file = binaries.file(binary_of(address));
    if (file == nullptr) return false;
    const auto code = file->at(offset_of(address), sizeof kTrampoline);
    return !code.empty() && std::memcmp(code.data(), kTrampoline, sizeof kTrampoline) == 0;
  }

  void run();
  bool step(unw_cursor_t& cursor, std::uint64_t address, std::uint64_t& stack_pointer);
  void end_at(std::uint64_t address, std::uint64_t cfa);

  Binaries& binaries;
  unw_addr_space_t space = nullptr;
  const Snapshot* snapshot = nullptr;
  const Modules* modules = nullptr;
  bool no_rule = false;       // there is no unwind entry for the frame
  std::uint64_t missing = 0;  // address of stack that was asked for and is not in the snapshot
  Unwound result;
};

Unwinder::Unwinder(Binaries& binaries) : space_(std::make_unique<Space>(binaries)) {}
Unwinder::~Unwinder() = default;

const Unwound& Unwinder::unwind(const Snapshot& snapshot, const Modules& modules) {
  space_->snapshot = &snapshot;
  space_->modules = &modules;
  space_->run();
  space_->snapshot = nullptr;
  return space_->result;
}

void Unwinder::Space::end_at(std::uint64_t address, std::uint64_t cfa) {
  result.frames.push_back({address, cfa});
  result.cut = true;
}

void Unwinder::Space::run() {
  result.frames.clear();
  result.cut = result.behind_snapshot = false;
  result.unknown = 0;
  std::uint64_t stack_pointer = snapshot->stack_pointer();
  unw_word_t ip = to_common(snapshot->header.registers[kRegisterRip]);
  unw_cursor_t cursor;
  if (unw_init_remote(&cursor, space, this) != 0) return end_at(ip, stack_pointer + 1);
  bool called = false;  // ip is a return address
  while (result.frames.size() < kMaxFrames) {
    const std::uint64_t address = ip - (called ? 1 : 0);
    if (!binaries.contains(address)) {
      result.unknown = address;
      return end_at(address, stack_pointer + 1);
    }
    called = !is_trampoline(ip);
    if (!step(cursor, address, stack_pointer)) return;
    unw_get_reg(&cursor, UNW_REG_IP, &ip);
    if (ip == 0) return;
  }
  result.cut = true;
}

// Takes the frame at `address` up and goes on to its caller. False: that was the last one.
bool Unwinder::Space::step(unw_cursor_t& cursor, std::uint64_t address, std::uint64_t& stack_pointer) {
  const std::uint64_t entry = snapshot->header.entry;
  const bool innermost = result.frames.empty();
  no_rule = false;
  missing = 0;
  const int stepped = unw_step(&cursor);
  unw_word_t cfa = 0;
  unw_get_reg(&cursor, UNW_REG_SP, &cfa);
  // Without a rule libunwind guesses along frame pointers that may be none.
  if (no_rule || stepped < 0) {
    const bool outside = !no_rule && entry != 0 && missing >= entry;
    if (outside && !innermost) return false;
    end_at(address, stack_pointer + 1);
    result.cut = !outside;
    result.behind_snapshot =
        missing >= snapshot->stack_pointer() + snapshot->stack.size() && !no_rule && !outside;
    return false;
  }
  if (stepped == 0) {
    result.frames.push_back({address, UINT64_MAX});
    return false;
  }
  if (entry != 0 && cfa > entry) {
    if (innermost) result.frames.push_back({address, cfa});
    return false;
  }
  if (cfa <= stack_pointer) {
    end_at(address, stack_pointer + 1);
    return false;
  }
  result.frames.push_back({address, cfa});
  stack_pointer = cfa;
  return true;
}

std::optional<FunctionExtent> Unwinder::function_at(BinaryId binary, std::uint64_t offset) {
  unw_proc_info_t found{};
  if (Space::find_proc_info(space_->space, common_address(binary, offset), &found, 0, space_.get()) < 0)
    return std::nullopt;
  if (binary_of(found.start_ip) != binary || found.start_ip > common_address(binary, offset))
    return std::nullopt;
  return FunctionExtent{offset_of(found.start_ip), offset_of(found.end_ip)};
}

}  // namespace lotus::collector
