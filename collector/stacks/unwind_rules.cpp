#include "unwind_rules.hpp"

#include <libunwind.h>
#include <setjmp.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

// Exported by libunwind for tracers, but declared in none of its public headers.
extern "C" int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t* info,
                                                  unw_proc_info_t* found, int need_unwind_info,
                                                  void* argument);

// libunwind's static library refers to this function but does not contain it. It is only called to resume a
// thread of the own process, which the collector never does.
extern "C" int UNW_OBJ(setcontext)(const void*) { std::abort(); }

namespace lotus::collector {
namespace {

constexpr std::size_t kMaxRules = std::size_t{1} << 15;  // 4 MiB; at the limit, all rules are discarded
constexpr unsigned kMaxReads = 1u << 15;               // in a step: damaged tables may contain endless loops
constexpr std::uint64_t kMaxSnapshotReads = 1u << 18;  // in all new steps of a snapshot; usual: 200 per step
constexpr std::size_t kMaxLoads = 64;                  // words of the stack that a step reads

// The code of a sigreturn trampoline: mov $15,%rax; syscall. The frame that it returns to
// made no call: a signal interrupted it.
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

// A damaged table may divide the smallest integer by -1, which raises SIGFPE: libunwind checks for a divisor
// of zero only.
thread_local sigjmp_buf* before_step = nullptr;

void on_arithmetic_error(int signal) {
  if (before_step != nullptr) siglongjmp(*before_step, 1);
  ::signal(signal, SIG_DFL);  // not caused by libunwind: the instruction repeats and ends the process
}

void install_handler() {
  struct sigaction action {};
  action.sa_handler = on_arithmetic_error;
  action.sa_flags = SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGFPE, &action, nullptr);
}

// unw_step(), where a SIGFPE that a damaged table causes becomes an error.
int step_within(unw_cursor_t& cursor) {
  sigjmp_buf here;
  if (sigsetjmp(here, 0) != 0) {
    before_step = nullptr;
    return -UNW_EUNSPEC;
  }
  before_step = &here;
  const int stepped = unw_step(&cursor);
  before_step = nullptr;
  return stepped;
}

}  // namespace

// A simulated machine that has stopped at an address. libunwind takes one step in it, and the rule is read
// off the result.
//
// Every register, and every word that is read from memory, has a value in the middle of a range of its own.
// So each result shows its origin: a value near that of a register is the register plus an offset; a value
// near that of a word is the word, and the word's address shows its origin in the same way. A step that
// computes in other ways (from two registers, or by masking bits) cannot be read like this. It is detected by
// a second machine, whose registers have other values: there the result differs.
class UnwindRules::Machine {
 public:
  explicit Machine(Binaries& binaries) : binaries_(binaries) {
    install_handler();
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
    space_ = unw_create_addr_space(&accessors, 0);
    if (space_ == nullptr) throw std::runtime_error("libunwind: out of memory");
    unw_set_caching_policy(space_, UNW_CACHE_NONE);
  }
  ~Machine() { unw_destroy_addr_space(space_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // Takes a step in the first (`variant` 0) or the second machine (1).
  UnwindRule step(std::uint64_t address, unsigned variant) {
    address_ = address;
    // Both machines use aligned addresses, since libunwind reads others byte by byte; rounded to multiples of
    // 16, they differ.
    low_bits_ = variant == 0 ? 0x1008 : 0x2270;
    loads_.clear();
    reads_ = 0;
    no_entry_ = false;
    unw_cursor_t cursor;
    if (unw_init_remote(&cursor, space_, this) != 0) return {};
    const int stepped = step_within(cursor);
    UnwindRule rule;
    if (stepped < 0 || no_entry_) return rule;  // without an entry libunwind guesses by frame pointers
    if (stepped == 0) {
      rule.kind = UnwindRule::Kind::last;
      return rule;
    }
    return describe(cursor);
  }

  // The number of memory reads in the last step.
  unsigned reads() const { return reads_; }

  std::optional<unw_proc_info_t> function_at(std::uint64_t address) {
    unw_proc_info_t found{};
    reads_ = 0;
    if (find_proc_info(space_, address, &found, 0, this) < 0) return std::nullopt;
    return found;
  }

 private:
  static constexpr unsigned kRangeBits = 36;
  static constexpr std::uint64_t kFirstRegister = 0x100;  // number of a range
  static constexpr std::uint64_t kFirstLoad = 0x200;

  // The origin of a value.
  struct Origin {
    enum class From : std::uint8_t { unknown, reg, load } from = From::unknown;
    std::size_t index = 0;  // number of the register, or index in loads_
    std::int32_t offset = 0;
  };

  std::uint64_t middle(std::uint64_t range) const { return (range << kRangeBits) + low_bits_; }

  Origin origin_of(std::uint64_t number) const {
    const std::uint64_t half = std::uint64_t{1} << (kRangeBits - 1);
    const std::uint64_t range = (number + half) >> kRangeBits;
    const auto offset = static_cast<std::int64_t>(number - middle(range));
    if (offset != static_cast<std::int32_t>(offset)) return {};
    if (range >= kFirstLoad && range < kFirstLoad + loads_.size())
      return {Origin::From::load, range - kFirstLoad, static_cast<std::int32_t>(offset)};
    if (range >= kFirstRegister && range < kFirstRegister + kRegisters)
      return {Origin::From::reg, range - kFirstRegister, static_cast<std::int32_t>(offset)};
    return {};
  }

  UnwindRule describe(unw_cursor_t& cursor) {
    UnwindRule rule;
    unw_word_t number = 0;
    if (unw_get_reg(&cursor, UNW_REG_SP, &number) < 0) return {};
    const Origin cfa = origin_of(number);
    if (cfa.from == Origin::From::reg) {
      rule.cfa = {static_cast<std::uint8_t>(cfa.index), cfa.offset};
    } else if (cfa.from == Origin::From::load) {
      const Origin place = origin_of(loads_[cfa.index]);
      if (place.from != Origin::From::reg) return {};
      rule.cfa_is_loaded = true;
      rule.cfa = {static_cast<std::uint8_t>(place.index), place.offset};
      rule.cfa_offset = cfa.offset;
    } else {
      return {};
    }
    if (unw_get_reg(&cursor, UNW_REG_IP, &number) < 0) return {};
    rule.return_address = place_of(number, cfa);
    if (rule.return_address.base == UnwindRule::kUnknown) return {};
    for (std::size_t i = 0; i < kKeptRegisters.size(); ++i)
      rule.kept[i] = kept(cursor, kKeptRegisters[i], cfa);
    rule.kind = UnwindRule::Kind::caller;
    return rule;
  }

  UnwindRule::Place kept(unw_cursor_t& cursor, std::size_t reg, const Origin& cfa) {
    unw_word_t number = 0;
    if (unw_get_reg(&cursor, static_cast<unw_regnum_t>(reg), &number) < 0) return {};
    if (number == middle(kFirstRegister + reg)) return {UnwindRule::kSame, 0};
    return place_of(number, cfa);
  }

  // The place of the word that `number` was loaded from.
  UnwindRule::Place place_of(std::uint64_t number, const Origin& cfa) const {
    const Origin word = origin_of(number);
    if (word.from != Origin::From::load || word.offset != 0) return {};
    const Origin place = origin_of(loads_[word.index]);
    // A place with the origin of the CFA is expressed relative to the CFA.
    if (place.from == cfa.from && place.index == cfa.index) {
      const std::int64_t offset = std::int64_t{place.offset} - cfa.offset;
      if (offset != static_cast<std::int32_t>(offset)) return {};
      return {UnwindRule::kCfa, static_cast<std::int32_t>(offset)};
    }
    if (place.from != Origin::From::reg) return {};
    return {static_cast<std::uint8_t>(place.index), place.offset};
  }

  static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t* found, int need,
                            void* argument) {
    auto& self = *static_cast<Machine*>(argument);
    unw_dyn_info_t info;
    const BinaryId binary = is_common(ip) ? binary_of(ip) : 0;
    const ElfFile* file = self.binaries_.file(binary);
    int result = -UNW_ENOINFO;
    if (file != nullptr && table_of(binary, *file, info))
      result = UNW_OBJ(dwarf_search_unwind_table)(as, ip, &info, found, need, argument);
    if (result < 0) self.no_entry_ = true;
    return result;
  }

  static int access_mem(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* argument) {
    auto& self = *static_cast<Machine*>(argument);
    if (write != 0 || ++self.reads_ > kMaxReads) return -UNW_EINVAL;
    return is_common(address) ? self.read_file(address, *value) : self.load(address, *value);
  }

  static int access_reg(unw_addr_space_t, unw_regnum_t reg, unw_word_t* value, int write, void* argument) {
    auto& self = *static_cast<Machine*>(argument);
    if (write != 0 || reg < 0 || static_cast<std::size_t>(reg) >= kRegisters) return -UNW_EBADREG;
    const auto index = static_cast<std::size_t>(reg);
    *value = index == kRegisterRip ? self.address_ : self.middle(kFirstRegister + index);
    return 0;
  }

  // libunwind reads tables byte by byte, mostly in sequence, so the last part of a file is kept.
  int read_file(std::uint64_t address, unw_word_t& value) {
    if (address - table_address_ >= table_.size()) {
      const ElfFile* file = binaries_.file(binary_of(address));
      if (file == nullptr) return -UNW_EINVAL;
      table_ = file->from(offset_of(address));
      table_address_ = address;
      if (table_.empty()) return -UNW_EINVAL;
    }
    const auto bytes = table_.subspan(address - table_address_);
    if (bytes.size() >= sizeof value) {
      std::memcpy(&value, bytes.data(), sizeof value);
    } else {
      value = 0;
      std::memcpy(&value, bytes.data(), bytes.size());
    }
    return 0;
  }

  int load(std::uint64_t address, unw_word_t& value) {
    const auto known = std::find(loads_.begin(), loads_.end(), address);
    const auto index = static_cast<std::uint64_t>(known - loads_.begin());
    if (known == loads_.end()) {
      if (loads_.size() >= kMaxLoads) return -UNW_EINVAL;
      loads_.push_back(address);
    }
    value = middle(kFirstLoad + index);
    return 0;
  }

  Binaries& binaries_;
  unw_addr_space_t space_ = nullptr;
  std::uint64_t address_ = 0;
  std::uint64_t low_bits_ = 0;
  std::vector<std::uint64_t> loads_;     // stack addresses read in this step
  std::span<const std::uint8_t> table_;  // the part of a file that was read last
  std::uint64_t table_address_ = 0;      // common address of the start of table_
  unsigned reads_ = 0;
  bool no_entry_ = false;
};

UnwindRules::UnwindRules(Binaries& binaries)
    : binaries_(binaries), machine_(std::make_unique<Machine>(binaries)) {}
UnwindRules::~UnwindRules() = default;

void UnwindRules::begin_snapshot() { reads_left_ = kMaxSnapshotReads; }

// A trampoline is entered by a return, so it starts at `address`, or 1 byte later if that is a return address
// minus 1.
bool UnwindRules::interrupts(std::uint64_t address) {
  const ElfFile* file = binaries_.file(binary_of(address));
  if (file == nullptr) return false;
  auto code = file->from(offset_of(address));
  code = code.first(std::min(code.size(), sizeof kTrampoline + 1));
  return std::search(code.begin(), code.end(), std::begin(kTrampoline), std::end(kTrampoline)) != code.end();
}

const KnownCode& UnwindRules::work_out(std::uint64_t address) {
  if (reads_left_ == 0) return not_kept_ = {address, 0, {}};
  UnwindRule rule = machine_->step(address, 0);
  std::uint64_t reads = machine_->reads();
  if (rule.kind != UnwindRule::Kind::none) {
    const UnwindRule other = machine_->step(address, 1);
    reads += machine_->reads();
    for (std::size_t i = 0; i < rule.kept.size(); ++i)
      if (rule.kept[i] != other.kept[i]) rule.kept[i] = {};
    UnwindRule comparable = other;
    comparable.kept = rule.kept;
    if (comparable != rule) rule = {};
  }
  reads_left_ -= std::min(reads_left_, reads);
  rule.interrupted = interrupts(address);
  // If the binary's file was not found, no rule is kept: another process may be able to open the file.
  if (binaries_.file(binary_of(address)) == nullptr) return not_kept_ = {address, 0, rule};
  if (known_.size() >= kMaxRules) known_.clear();
  return known_.add({address, 0, rule});
}

std::optional<FunctionExtent> UnwindRules::function_at(BinaryId binary, std::uint64_t offset) {
  const std::uint64_t address = common_address(binary, offset);
  const auto found = machine_->function_at(address);
  if (!found || binary_of(found->start_ip) != binary || found->start_ip > address) return std::nullopt;
  return FunctionExtent{offset_of(found->start_ip), offset_of(found->end_ip)};
}

}  // namespace lotus::collector
