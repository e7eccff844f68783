#include "unwinder.hpp"

#include <cstring>

namespace lotus::collector {
namespace {

constexpr std::size_t kMaxFrames = 512;
// aarch64: holds the return address; a number that x86-64 has no register of.
constexpr std::size_t kLinkRegister = 30;
// Without the bits above, in which a return address may be signed (pointer authentication).
constexpr std::uint64_t kAarch64Address = (std::uint64_t{1} << 48) - 1;

// Walks one snapshot from its innermost frame outwards.
class Walk {
 public:
  Walk(Binaries& binaries, UnwindRules& rules, const Snapshot& snapshot, const Modules& modules,
       Unwound& result)
      : binaries_(binaries), rules_(rules), snapshot_(snapshot), modules_(modules), result_(result) {
    for (std::size_t i = 0; i < kMaxRegisters; ++i)
      registers_[i] = {snapshot.registers[i], Register::Is::value};
  }

  void run() {
    std::uint64_t ip = to_common(snapshot_.registers[snapshot_.numbers.program_counter]);
    bool called = false;  // ip is a return address
    while (result_.frames.size() < kMaxFrames) {
      const std::uint64_t address = ip - (called ? 1 : 0);
      if (!binaries_.contains(address)) {
        result_.unknown = address;
        return end_at({address, 0, {}});
      }
      const KnownCode& code = rules_.at(address);
      called = !code.rule.interrupted;
      if (!step(code, ip) || ip == 0) return;
    }
    result_.cut = true;
  }

 private:
  struct Register {
    std::uint64_t number;                                    // its value, or the address where that is saved
    enum class Is : std::uint8_t { value, saved, lost } is;  // lost: it was not saved
  };

  std::uint64_t stack_pointer() const { return registers_[snapshot_.numbers.stack_pointer].number; }

  // No process has addresses in the common space: such an address is damage and is replaced.
  std::uint64_t to_common(std::uint64_t address) const {
    if (is_common(address)) return 0;
    return modules_.translate(address).value_or(address);
  }

  bool read(std::uint64_t address, std::uint64_t& word) {
    const std::uint64_t at = address - snapshot_.header.stack_start;
    if (at >= snapshot_.stack.size() || snapshot_.stack.size() - at < sizeof word) {
      missing_ = address;
      return false;
    }
    std::memcpy(&word, snapshot_.stack.data() + at, sizeof word);
    return true;
  }

  bool value_of(const Register& reg, std::uint64_t& value) {
    value = reg.number;
    return reg.is == Register::Is::value || (reg.is == Register::Is::saved && read(reg.number, value));
  }

  bool address_of(const UnwindRule::Place& place, std::uint64_t cfa, std::uint64_t& address) {
    address = cfa;
    if (place.base != UnwindRule::kCfa) {
      if (place.base >= kMaxRegisters || !value_of(registers_[place.base], address)) return false;
    }
    address += static_cast<std::uint64_t>(std::int64_t{place.offset});
    return true;
  }

  // Finds the caller's stack pointer and return address. False: the snapshot lacks the stack that they need.
  bool find_caller(const UnwindRule& rule, std::uint64_t& cfa, std::uint64_t& ip) {
    if (!address_of(rule.cfa, 0, cfa)) return false;
    if (rule.cfa_is_loaded) {
      if (!read(cfa, cfa)) return false;
      cfa += static_cast<std::uint64_t>(std::int64_t{rule.cfa_offset});
    }
    if (!find_return_address(rule, cfa, ip)) return false;
    if (snapshot_.numbers.machine == Machine::aarch64) ip &= kAarch64Address;
    ip = to_common(ip);
    return true;
  }

  bool find_return_address(const UnwindRule& rule, std::uint64_t cfa, std::uint64_t& ip) {
    if (rule.return_address.base == UnwindRule::kSame) return value_of(registers_[kLinkRegister], ip);
    std::uint64_t place = 0;
    return address_of(rule.return_address, cfa, place) && read(place, ip);
  }

  void go_to_caller(const UnwindRule& rule, std::uint64_t cfa) {
    const auto numbers = kept_registers(snapshot_.numbers.machine);
    std::array<Register, kMaxKept> kept;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const UnwindRule::Place& place = rule.kept[i];
      kept[i] = registers_[numbers[i]];
      if (place.base == UnwindRule::kSame) continue;
      kept[i].is = address_of(place, cfa, kept[i].number) ? Register::Is::saved : Register::Is::lost;
    }
    if (result_.frames.size() == 1)
      for (Register& reg : registers_) reg.is = Register::Is::lost;
    for (std::size_t i = 0; i < kept.size(); ++i) registers_[numbers[i]] = kept[i];
    // A call has put another return address there.
    if (!rule.interrupted) registers_[kLinkRegister].is = Register::Is::lost;
    registers_[snapshot_.numbers.stack_pointer] = {cfa, Register::Is::value};
  }

  void take(const KnownCode& code, std::uint64_t cfa) {
    result_.frames.push_back({code.key, cfa, code.location});
  }

  void end_at(const KnownCode& code) {
    take(code, stack_pointer() + 1);
    result_.cut = true;
  }

  // Adds the frame in `code` and goes on to its caller, at `ip`. False: the frame was the last one.
  bool step(const KnownCode& code, std::uint64_t& ip) {
    const std::uint64_t entry = snapshot_.header.entry;
    const bool innermost = result_.frames.empty();
    const UnwindRule& rule = code.rule;
    if (rule.kind == UnwindRule::Kind::last) {
      take(code, UINT64_MAX);
      return false;
    }
    std::uint64_t cfa = 0;
    missing_ = 0;
    if (rule.kind == UnwindRule::Kind::none || !find_caller(rule, cfa, ip)) {
      const bool outside = entry != 0 && missing_ >= entry;
      if (outside && !innermost) return false;
      end_at(code);
      result_.cut = !outside;
      result_.behind_snapshot = missing_ >= snapshot_.header.stack_start + snapshot_.stack.size() && !outside;
      return false;
    }
    if (entry != 0 && cfa > entry) {
      if (innermost) take(code, cfa);
      return false;
    }
    // A function that calls none may have no frame at all where the return address is in a register.
    const bool grows =
        cfa > stack_pointer() || (cfa == stack_pointer() && rule.return_address.base == UnwindRule::kSame);
    if (!grows) {
      end_at(code);
      return false;
    }
    take(code, cfa);
    go_to_caller(rule, cfa);
    return true;
  }

  Binaries& binaries_;
  UnwindRules& rules_;
  const Snapshot& snapshot_;
  const Modules& modules_;
  Unwound& result_;
  std::array<Register, kMaxRegisters> registers_;
  std::uint64_t missing_ = 0;  // a stack address that was needed and is not in the snapshot
};

}  // namespace

const Unwound& Unwinder::unwind(const Snapshot& snapshot, const Modules& modules) {
  result_.frames.clear();
  result_.cut = result_.behind_snapshot = false;
  result_.unknown = 0;
  rules_.begin_snapshot();
  Walk(binaries_, rules_, snapshot, modules, result_).run();
  return result_;
}

}  // namespace lotus::collector
