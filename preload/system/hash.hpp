// Tells texts apart that are compared often, or kept for long.
#pragma once

#include <cstdint>
#include <string_view>

namespace lotus {

inline constexpr std::uint32_t kHashOfNothing = 0x811c9dc5;

// FNV-1a. `hash`: of what goes before.
inline std::uint32_t hash_text(std::string_view text, std::uint32_t hash = kHashOfNothing) {
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x01000193;
  return hash;
}

}  // namespace lotus
