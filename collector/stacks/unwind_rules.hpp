// How to get from a frame to its caller, for any address of code: what libunwind makes of the binary's unwind
// table there, worked out once and kept in a form that is applied in nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <lotus/snapshot.hpp>
#include <memory>
#include <optional>

#include "stacks/binaries.hpp"
#include "stacks/flat_table.hpp"

namespace lotus::collector {

// Registers that a function gives back as it found them, by DWARF's numbers: all that a caller's own rule
// can rest on, beside its stack pointer.
inline constexpr std::array<std::size_t, 6> kKeptRegisters{3, 6, 12, 13, 14, 15};

struct UnwindRule {
  static constexpr std::uint8_t kCfa = kRegisters;  // as a base
  static constexpr std::uint8_t kSame = 0xfe;       // the register has not changed
  static constexpr std::uint8_t kUnknown = 0xff;
  enum class Kind : std::uint8_t { none, last, caller };

  // An address in the stack: a register's value, or the CFA, and an offset in bytes.
  struct [[gnu::packed]] Place {
    std::uint8_t base = kUnknown;
    std::int32_t offset = 0;
    bool operator==(const Place&) const = default;
  };

  Kind kind = Kind::none;       // none: the table says nothing; last: there is no caller
  bool interrupted = false;     // the caller did not call, a signal interrupted it
  bool cfa_is_loaded = false;   // the CFA is the word at `cfa`, not `cfa` itself
  Place cfa;                    // the stack pointer after the return
  std::int32_t cfa_offset = 0;  // added to the word
  Place return_address;
  std::array<Place, kKeptRegisters.size()> kept;  // where each of them was put by

  bool operator==(const UnwindRule&) const = default;
};

// An address of code, in a cache line of its own.
struct alignas(64) KnownCode {
  std::uint64_t key = 0;    // the address, common
  LocationId location = 0;  // 0: nobody has told it yet
  UnwindRule rule;
};
static_assert(sizeof(KnownCode) == 64);

struct FunctionExtent {
  std::uint64_t begin, end;  // offsets in the binary
};

class UnwindRules {
 public:
  // `binaries` outlives the rules. Throws std::runtime_error if libunwind has no memory.
  explicit UnwindRules(Binaries& binaries);
  ~UnwindRules();
  UnwindRules(const UnwindRules&) = delete;
  UnwindRules& operator=(const UnwindRules&) = delete;

  // A snapshot is unwound next. Damaged tables can make each rule a long way: those of one snapshot share a
  // bound, behind which there is none.
  void begin_snapshot();

  // What is known at a common address of code; of a call, for a return address. Valid until the next call.
  const KnownCode& at(std::uint64_t address) {
    const KnownCode* known = known_.find(address);
    return known != nullptr ? *known : work_out(address);
  }
  // Where the rule at `address` is kept, so is its location, until all are forgotten.
  void keep_location(std::uint64_t address, LocationId location) {
    if (KnownCode* known = known_.find(address)) known->location = location;
  }

  // The function that has an unwind entry around `offset`; empty if there is none.
  std::optional<FunctionExtent> function_at(BinaryId binary, std::uint64_t offset);

 private:
  class Machine;
  const KnownCode& work_out(std::uint64_t address);
  bool interrupts(std::uint64_t address);

  Binaries& binaries_;
  std::unique_ptr<Machine> machine_;
  FlatTable<KnownCode> known_;
  std::uint64_t reads_left_ = 0;  // for this snapshot
  KnownCode not_kept_;
};

}  // namespace lotus::collector
