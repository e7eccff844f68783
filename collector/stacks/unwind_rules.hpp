// How to get from a frame to its caller, for any address of code: what libunwind makes of the binary's unwind
// table there, worked out once and kept in a form that is applied in nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <lotus/snapshot.hpp>
#include <memory>
#include <memory_resource>
#include <optional>
#include <unordered_map>

#include "stacks/binaries.hpp"

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
  struct Place {
    std::uint8_t base = kUnknown;
    std::int32_t offset = 0;
    bool operator==(const Place&) const = default;
  };

  Kind kind = Kind::none;       // none: the table says nothing; last: there is no caller
  bool cfa_is_loaded = false;   // the CFA is the word at `cfa`, not `cfa` itself
  Place cfa;                    // the stack pointer after the return
  std::int32_t cfa_offset = 0;  // added to the word
  Place return_address;
  std::array<Place, kKeptRegisters.size()> kept;  // where each of them was put by

  bool operator==(const UnwindRule&) const = default;
};

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

  // The rule at a common address of code; of a call, for a return address. Valid until the next call.
  const UnwindRule& at(std::uint64_t address) {
    const auto known = rules_.find(address);
    return known != rules_.end() ? known->second : work_out(address);
  }

  // The function that has an unwind entry around `offset`; empty if there is none.
  std::optional<FunctionExtent> function_at(BinaryId binary, std::uint64_t offset);

 private:
  class Machine;
  struct Mix {  // binaries choose their addresses
    std::size_t operator()(std::uint64_t address) const {
      address *= 0x9e3779b97f4a7c15;
      return address ^ address >> 32;
    }
  };
  const UnwindRule& work_out(std::uint64_t address);

  Binaries& binaries_;
  std::unique_ptr<Machine> machine_;
  std::pmr::unsynchronized_pool_resource lasting_;  // for the same reason as in StackStore
  std::pmr::unordered_map<std::uint64_t, UnwindRule, Mix> rules_{&lasting_};
  std::uint64_t reads_left_ = 0;  // for this snapshot
  UnwindRule not_kept_;
};

}  // namespace lotus::collector
