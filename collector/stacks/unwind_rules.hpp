// Unwind rules: how to get from a frame to its caller, for any address of code. A rule is derived once from
// the binary's call frame information (call_frames.hpp), and kept in a form that is applied in nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <lotus/snapshot.hpp>
#include <optional>
#include <span>

#include "stacks/binaries.hpp"
#include "stacks/call_frames.hpp"
#include "stacks/flat_table.hpp"

namespace lotus::collector {

// Callee-saved registers, by DWARF's numbers, that rules of callers can use beside the stack pointer. x86-64:
// all that there are. aarch64: frame pointer and return address, and what compilers may use in place of a
// frame pointer.
inline constexpr std::size_t kMaxKept = 6;
inline constexpr std::uint8_t kKeptOfX86[] = {3, 6, 12, 13, 14, 15};
inline constexpr std::uint8_t kKeptOfAarch64[] = {19, 20, 27, 28, 29, 30};
constexpr std::span<const std::uint8_t, kMaxKept> kept_registers(Machine machine) {
  if (machine == Machine::aarch64) return kKeptOfAarch64;
  return kKeptOfX86;
}

struct UnwindRule {
  static constexpr std::uint8_t kCfa = kMaxRegisters;  // the base of a Place is the CFA
  static constexpr std::uint8_t kSame = 0xfe;          // the register has not changed
  static constexpr std::uint8_t kUnknown = 0xff;
  enum class Kind : std::uint8_t { none, last, caller };

  // An address in the stack: the value of a register, or the CFA, plus an offset in bytes.
  struct [[gnu::packed]] Place {
    std::uint8_t base = kUnknown;
    std::int32_t offset = 0;
    bool operator==(const Place&) const = default;
  };

  Kind kind = Kind::none;            // none: no rule known; last: there is no caller
  bool interrupted = false;          // the caller made no call: a signal interrupted it
  bool cfa_is_loaded = false;        // the CFA is the word at `cfa`, not `cfa` itself
  Place cfa;                         // the stack pointer after the return
  std::int32_t cfa_offset = 0;       // added to that word
  Place return_address;              // kSame: it is in its register
  std::array<Place, kMaxKept> kept;  // where each callee-saved register is

  bool operator==(const UnwindRule&) const = default;
};

// The location and the rule of an address of code, in one cache line.
struct alignas(64) KnownCode {
  std::uint64_t key = 0;    // a common address
  LocationId location = 0;  // 0: not set yet
  UnwindRule rule;
};
static_assert(sizeof(KnownCode) == 64);

class UnwindRules {
 public:
  // `binaries` outlives the rules.
  explicit UnwindRules(Binaries& binaries) : binaries_(binaries) {}
  UnwindRules(const UnwindRules&) = delete;
  UnwindRules& operator=(const UnwindRules&) = delete;

  // To be called before each snapshot. Damaged tables can make a rule expensive to derive, so all rules of
  // one snapshot share a limit of bytes that are read; after it, no more are derived.
  void begin_snapshot() { bytes_left_ = kMaxSnapshotBytes; }

  // The rule and location at a common address; for a return address, pass the address of its call (less 1).
  // Valid until the next call.
  const KnownCode& at(std::uint64_t address) {
    const KnownCode* known = known_.find(address);
    return known != nullptr ? *known : work_out(address);
  }
  // Stores the location of `address` beside its rule, if that is kept.
  void keep_location(std::uint64_t address, LocationId location) {
    if (KnownCode* known = known_.find(address)) known->location = location;
  }

  // The function that has an unwind entry around `offset`; empty if there is none.
  std::optional<FunctionExtent> function_at(BinaryId binary, std::uint64_t offset);

 private:
  static constexpr std::uint64_t kMaxSnapshotBytes = 1u << 20;  // usual: 60 a rule
  const KnownCode& work_out(std::uint64_t address);

  Binaries& binaries_;
  FlatTable<KnownCode> known_;
  std::uint64_t bytes_left_ = 0;  // of the limit for this snapshot
  KnownCode not_kept_;
};

}  // namespace lotus::collector
