// Names of native entry points, told to the collector as definitions `hook`.
#pragma once

#include <cstdint>
#include <string_view>

#include "record/native_totals.hpp"
#include "system/hot.hpp"

namespace lotus {

struct HookName {
  const char* name = nullptr;
  const char* library = nullptr;
};

// The hooks that are there from the beginning, numbered from 1; `rows` is not copied. Called once, before any
// thread exists.
void add_first_hooks(const HookName* rows, std::uint32_t count);

// Makes a hook. `name`, `library`: copied. 0: no room for one more. Thread safe.
HookId add_hook(std::string_view name, std::string_view library);

// Sends the hook's definition, once in each process.
LOTUS_DIRECT extern bool hook_defined[kMaxHooks];
void send_hook(HookId id);
inline void define_hook(HookId id) {
  if (!hook_defined[id]) [[unlikely]]
    send_hook(id);
}

// In a forked child: all are to be defined anew.
void forget_hooks();

}  // namespace lotus
