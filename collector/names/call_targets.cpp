#include "names/call_targets.hpp"

#include <algorithm>
#include <cstring>

namespace lotus::collector {
namespace {

constexpr std::uint64_t kAlign = 16;
constexpr std::uint8_t kCall = 0xe8;
constexpr std::uint8_t kJump = 0xe9;
constexpr std::uint8_t kLea = 0x8d;       // behind a REX.W prefix
constexpr std::uint8_t kRipRelative = 5;  // ModRM without its register bits

enum class Reference : std::uint8_t { none, call, jump, address };

// How the instruction with a 4-byte displacement at `at` refers to its target, if it does.
Reference reference_at(std::span<const std::uint8_t> code, std::size_t at) {
  if (code[at - 1] == kCall) return Reference::call;
  if (code[at - 1] == kJump) return Reference::jump;
  const bool lea = at >= 3 && code[at - 2] == kLea && (code[at - 3] & 0xfb) == 0x48;
  return lea && (code[at - 1] & 0xc7) == kRipRelative ? Reference::address : Reference::none;
}

}  // namespace

CallTargets::CallTargets(const ElfFile& file) : functions_(file.functions()) {
  for (const auto& [address, bytes] : file.code()) {
    for (std::size_t at = 1; at + sizeof(std::int32_t) <= bytes.size(); ++at) {
      const Reference reference = reference_at(bytes, at);
      if (reference == Reference::none) continue;
      std::int32_t displacement = 0;
      std::memcpy(&displacement, bytes.data() + at, sizeof displacement);
      const std::uint64_t place = address + at;
      const std::uint64_t target =
          place + sizeof displacement + static_cast<std::uint64_t>(std::int64_t{displacement});
      if (target % kAlign != 0 || target - address >= bytes.size()) continue;
      // Functions jump within themselves, and the end of one without an unwind entry is not known.
      const bool inner = reference == Reference::jump && place >= end_of_last_function(place);
      if (!inner && target >= end_of_last_function(target)) targets_.push_back(target);
    }
  }
  std::sort(targets_.begin(), targets_.end());
  targets_.erase(std::unique(targets_.begin(), targets_.end()), targets_.end());
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
