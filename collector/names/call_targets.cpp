#include "names/call_targets.hpp"

#include <algorithm>
#include <cstring>

namespace lotus::collector {
namespace {

// Where an instruction refers to, and how.
struct Reference {
  enum class Is : std::uint8_t { call, jump, address } is;
  std::uint64_t target;
};

// x86-64. Other bytes may look like these instructions, so only targets at multiples of 16 count, where
// compilers and hand-written assembly place functions.
struct X86 {
  static constexpr std::uint64_t kAlign = 16;
  static constexpr std::size_t kStep = 1;
  static constexpr std::size_t kDisplacement = sizeof(std::int32_t);
  static constexpr std::uint8_t kCall = 0xe8;
  static constexpr std::uint8_t kJump = 0xe9;
  static constexpr std::uint8_t kLea = 0x8d;       // behind a REX.W prefix
  static constexpr std::uint8_t kRipRelative = 5;  // ModRM without its register bits

  // The instruction whose last byte before a displacement is at `at`.
  static std::optional<Reference> at(const ElfFile::Code& code, std::size_t at) {
    const std::uint8_t* const byte = code.bytes.data() + at;
    if (code.bytes.size() - at <= kDisplacement) return std::nullopt;
    const bool lea = at >= 2 && byte[-1] == kLea && (byte[-2] & 0xfb) == 0x48;
    const bool address = lea && (byte[0] & 0xc7) == kRipRelative;
    if (byte[0] != kCall && byte[0] != kJump && !address) return std::nullopt;
    std::int32_t displacement = 0;
    std::memcpy(&displacement, byte + 1, kDisplacement);
    const auto is = byte[0] == kCall   ? Reference::Is::call
                    : byte[0] == kJump ? Reference::Is::jump
                                       : Reference::Is::address;
    return Reference{
        is, code.address + at + 1 + kDisplacement + static_cast<std::uint64_t>(std::int64_t{displacement})};
  }
};

// aarch64: each instruction is a word.
struct Aarch64 {
  static constexpr std::uint64_t kAlign = 4;
  static constexpr std::size_t kStep = sizeof(std::uint32_t);
  static constexpr std::uint32_t kLink = 0x94000000, kBranch = 0x14000000, kBranchMask = 0xfc000000;
  static constexpr std::uint32_t kAdr = 0x10000000, kAdrp = 0x90000000, kAdrMask = 0x9f000000;
  static constexpr std::uint32_t kAdd = 0x91000000,
                                 kAddMask = 0xffc00000;  // of an immediate, 64 bits, not shifted
  static constexpr std::size_t kNear = 8;  // instructions between the two that compilers put in order

  static std::uint32_t word_at(const ElfFile::Code& code, std::size_t at) {
    std::uint32_t word = 0;
    if (at < code.bytes.size() && code.bytes.size() - at >= sizeof word)
      std::memcpy(&word, code.bytes.data() + at, sizeof word);
    return word;
  }
  static std::uint64_t extended(std::uint32_t value, unsigned bits) {
    const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
    return (value ^ sign) - sign;
  }

  static bool adds_to(std::uint32_t word, std::uint32_t reg) {
    return (word & kAddMask) == kAdd && (word >> 5 & 31) == reg;
  }

  static std::optional<Reference> at(const ElfFile::Code& code, std::size_t at) {
    const std::uint32_t word = word_at(code, at);
    const std::uint64_t place = code.address + at;
    if ((word & kBranchMask) == kLink || (word & kBranchMask) == kBranch)
      return Reference{(word & kBranchMask) == kLink ? Reference::Is::call : Reference::Is::jump,
                       place + 4 * extended(word & ~kBranchMask, 26)};
    const std::uint64_t immediate = extended((word >> 5 & 0x7ffff) << 2 | (word >> 29 & 3), 21);
    if ((word & kAdrMask) == kAdr) return Reference{Reference::Is::address, place + immediate};
    if ((word & kAdrMask) != kAdrp) return std::nullopt;
    // The page; one of the next instructions adds the rest to its register.
    const std::uint32_t reg = word & 31;
    std::uint32_t next = 0;
    for (std::size_t i = 1; i <= kNear && !adds_to(next, reg); ++i) next = word_at(code, at + i * kStep);
    if (!adds_to(next, reg)) return std::nullopt;
    return Reference{Reference::Is::address,
                     (place & ~std::uint64_t{4095}) + (immediate << 12) + (next >> 10 & 0xfff)};
  }
};

}  // namespace

CallTargets::CallTargets(const ElfFile& file) : functions_(file.functions()) {
  for (const ElfFile::Code& code : file.code())
    file.machine() == Machine::aarch64 ? search<Aarch64>(code) : search<X86>(code);
  std::sort(targets_.begin(), targets_.end());
  targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
}

template <class Instructions>
void CallTargets::search(const ElfFile::Code& code) {
  for (std::size_t at = 0; at < code.bytes.size(); at += Instructions::kStep) {
    const std::optional<Reference> reference = Instructions::at(code, at);
    if (!reference || reference->target % Instructions::kAlign != 0) continue;
    const std::uint64_t target = reference->target, place = code.address + at;
    if (target - code.address >= code.bytes.size()) continue;
    // Functions jump within themselves, and the end of one without an unwind entry is not known.
    const bool inner = reference->is == Reference::Is::jump && place >= end_of_last_function(place);
    if (!inner && target >= end_of_last_function(target)) targets_.push_back(target);
  }
}

std::uint64_t CallTargets::end_of_last_function(std::uint64_t address) const {
  const auto after = std::upper_bound(
      functions_.begin(), functions_.end(), address,
      [](std::uint64_t value, const ElfFile::Function& function) { return value < function.begin; });
  return after == functions_.begin() ? 0 : std::prev(after)->end;
}

std::optional<std::uint64_t> CallTargets::function_at(std::uint64_t address) const {
  const auto after = std::upper_bound(targets_.begin(), targets_.end(), address);
  if (after == targets_.begin() || *std::prev(after) < end_of_last_function(address)) return std::nullopt;
  return *std::prev(after);
}

}  // namespace lotus::collector
