// What native entry points did inside the spans that are open in one thread.
#pragma once

#include <cstdint>

namespace lotus {

using HookId = std::uint16_t;  // numbers the hooks of a process tree, from 1; 0: none
inline constexpr std::size_t kMaxHooks = 1024;
inline constexpr std::uint32_t kMaxTotals = 128;  // of one thread at a time; more are not counted

// Whose a total is: a hook, and the span for which it counts, told by how many were open.
using TotalKey = std::uint32_t;
constexpr TotalKey total_key(HookId hook, std::uint32_t depth) { return depth << 16 | hook; }
constexpr HookId hook_in(TotalKey key) { return static_cast<HookId>(key); }
constexpr std::uint32_t depth_in(TotalKey key) { return key >> 16; }

struct NativeTotal {
  std::uint64_t ticks;
  std::uint64_t bytes;
  std::uint32_t calls;
  TotalKey key;
};

// A stack of totals beside the stack of spans: those of the innermost span lie on top. A signal handler may
// come between any two lines here and count something itself: then a call may get lost, nothing worse.
struct NativeTotals {
  std::uint32_t count;
  NativeTotal rows[kMaxTotals];
  std::uint16_t at[kMaxHooks];  // where a hook's newest total is, or was

  // The total of this hook for the innermost span, made if need be. nullptr: no room.
  NativeTotal* of(HookId hook, std::uint32_t depth) {
    const TotalKey key = total_key(hook, depth);
    const std::uint32_t guess = at[hook];
    if (guess < count && rows[guess].key == key) [[likely]]
      return &rows[guess];
    const std::uint32_t end = count;
    for (std::uint32_t i = end; i > 0 && depth_in(rows[i - 1].key) == depth; --i) {
      if (rows[i - 1].key != key) continue;
      at[hook] = static_cast<std::uint16_t>(i - 1);
      return &rows[i - 1];
    }
    if (end == kMaxTotals) return nullptr;
    rows[end] = {0, 0, 0, key};
    at[hook] = static_cast<std::uint16_t>(end);
    count = end + 1;
    return &rows[end];
  }

  // Whether what of() gave, in this or another thread, is still that total here.
  bool holds(const NativeTotal* row, TotalKey key) const {
    const auto offset = reinterpret_cast<std::uintptr_t>(row) - reinterpret_cast<std::uintptr_t>(rows);
    return offset < count * sizeof *row && row->key == key;
  }
};

}  // namespace lotus
