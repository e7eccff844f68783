#include "names/code_names.hpp"

#include <charconv>
#include <cstring>
#include <string_view>

namespace lotus::collector {
namespace {

struct KnownFunction {
  const char* name;
  std::uint32_t bytes;
  std::uint64_t hash;  // FNV-1a of the bytes, with zeros where the linker fills in
  const char* filled;  // those places: each from the one before, in hex
};

constexpr KnownFunction kKnown[] = {
#include "names/code_names.inc"
};

constexpr std::size_t kField = 4;  // bytes that the linker fills in at each place
constexpr std::uint64_t kBasis = 0xcbf29ce484222325, kPrime = 0x100000001b3;

// The first place after `place` in what is left of `steps`, which is advanced; past every function: none.
std::size_t next_place(std::string_view& steps, std::size_t place) {
  std::size_t step = 0;
  const auto [end, error] = std::from_chars(steps.data(), steps.data() + steps.size(), step, 16);
  if (error != std::errc()) return SIZE_MAX;
  steps.remove_prefix(static_cast<std::size_t>(end - steps.data()));
  if (!steps.empty()) steps.remove_prefix(1);
  return place + step;
}

std::uint64_t hash_of(std::span<const std::uint8_t> code, std::string_view filled) {
  std::uint64_t hash = kBasis;
  std::size_t place = next_place(filled, 0);
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (place != SIZE_MAX && at >= place + kField) place = next_place(filled, place);
    const bool is_filled = at >= place && at - place < kField;
    hash = (hash ^ (is_filled ? 0 : code[at])) * kPrime;
  }
  return hash;
}

}  // namespace

std::optional<CodeName> name_by_code(const ElfFile& file, std::uint64_t begin, std::uint64_t bytes) {
  std::optional<CodeName> found;
  if (file.machine() != Machine::x86_64) return found;  // the table's
  for (const KnownFunction& known : kKnown) {
    if (bytes != 0 && bytes != known.bytes) continue;
    const auto code = file.at(begin, known.bytes);
    if (code.empty() || hash_of(code, known.filled) != known.hash) continue;
    if (found && std::strcmp(found->name, known.name) != 0) return std::nullopt;
    found = CodeName{known.name, known.bytes};
  }
  return found;
}

}  // namespace lotus::collector
