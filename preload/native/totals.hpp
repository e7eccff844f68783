// What native entry points did inside the spans that are open in one thread.
#pragma once

#include <cstdint>

namespace lotus {

using HookId = std::uint16_t;  // numbers the hooks of a process tree, from 1; 0: none
inline constexpr std::size_t kMaxHooks = 1024;
inline constexpr std::uint32_t kMaxTotals = 128;  // of one thread at a time; more are not counted

struct NativeTotal {
  std::uint64_t ticks;
  std::uint64_t bytes;
  std::uint32_t calls;
  HookId hook;
  std::uint16_t depth;  // of the span: how many were open
};

// A stack of totals beside the stack of spans: those of the innermost span lie on top. A signal handler may
// come between any two lines here and count something itself: then a call may get lost, nothing worse.
struct NativeTotals {
  std::uint32_t count;
  NativeTotal rows[kMaxTotals];
  std::uint16_t at[kMaxHooks];  // where a hook's newest total is, or was

  // The total of this hook for the innermost span, made if need be. nullptr: no room.
  NativeTotal* of(HookId hook, std::uint32_t depth) {
    const std::uint32_t guess = at[hook];
    if (guess < count && rows[guess].hook == hook && rows[guess].depth == depth) [[likely]]
      return &rows[guess];
    const std::uint32_t end = count;
    for (std::uint32_t i = end; i > 0 && rows[i - 1].depth == depth; --i) {
      if (rows[i - 1].hook != hook) continue;
      at[hook] = static_cast<std::uint16_t>(i - 1);
      return &rows[i - 1];
    }
    if (end == kMaxTotals) return nullptr;
    rows[end] = {0, 0, 0, hook, static_cast<std::uint16_t>(depth)};
    at[hook] = static_cast<std::uint16_t>(end);
    count = end + 1;
    return &rows[end];
  }

  // Whether a row that of() gave is still that total.
  bool holds(const NativeTotal& row, HookId hook, std::uint32_t depth) const {
    return &row < rows + count && row.hook == hook && row.depth == depth;
  }
};

}  // namespace lotus
