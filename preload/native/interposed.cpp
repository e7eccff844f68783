#include "native/interposed.hpp"

#include <cstddef>
#include <cstring>
#include <iterator>

#include "system/loader.hpp"
#include "system/signal_actions.hpp"

namespace lotus {

constinit AnyFunction real_functions[kHookedFunctions] = {};

namespace {

constexpr HookName kCountedNames[] = {
#define LOTUS_HOOK(name) {#name, "libc.so.6"},
    LOTUS_COUNTED(LOTUS_HOOK) LOTUS_WAITING(LOTUS_HOOK)
#undef LOTUS_HOOK
};

// In musl, files are large anyway, and the names that end in 64 are known to its loader alone.
void* find_without_64(const char* name) {
  char plain[32];
  const std::size_t length = std::strlen(name);
  if (length >= sizeof plain || length < 3 || std::strcmp(name + length - 2, "64") != 0) return nullptr;
  std::memcpy(plain, name, length - 2);
  plain[length - 2] = '\0';
  return libc_symbol(plain, nullptr);
}

}  // namespace

AnyFunction real_function(Hooked function) {
  if (real_functions[function] != nullptr) return real_functions[function];
  const HookRow& row = kHookRows[function];
  void* found = libc_symbol(row.name, row.library == Library::libc_2_3_2 ? "GLIBC_2.3.2" : nullptr);
  if (found == nullptr) found = find_without_64(row.name);
  real_functions[function] = reinterpret_cast<AnyFunction>(found);
  return real_functions[function];
}

void find_real_functions() {
  for (std::uint32_t i = 0; i < kHookedFunctions; ++i)
    if (kHookRows[i].library == Library::libc || kHookRows[i].library == Library::libc_2_3_2)
      real_function(static_cast<Hooked>(i));
  real_sigaction = reinterpret_cast<Sigaction>(real_functions[hooked_sigaction]);
  add_first_hooks(kCountedNames, std::size(kCountedNames));
}

}  // namespace lotus
