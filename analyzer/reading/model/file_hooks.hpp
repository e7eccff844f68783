// Which native entry points read files.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace lotus::analyzer {

// Names of hooks of libc that open or read files, without any "64" at the end.
inline bool is_file_hook(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {"open",  "openat", "fopen", "read", "pread",
                                                      "readv", "preadv", "fread", "mmap"};
  if (name.ends_with("64")) name.remove_suffix(2);
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Of these, the ones whose bytes are mapped; pages are read only when they are touched.
inline bool maps_file(std::string_view name) { return name == "mmap" || name == "mmap64"; }

}  // namespace lotus::analyzer
