#include "native/interposed.hpp"

#include <dlfcn.h>

#include <iterator>

#include "system/signal_actions.hpp"

namespace lotus {

constinit AnyFunction real_functions[kHookedFunctions] = {};

namespace {

constexpr HookName kCountedNames[] = {
#define LOTUS_HOOK(name) {#name, "libc.so.6"},
    LOTUS_COUNTED(LOTUS_HOOK)
#undef LOTUS_HOOK
};

}  // namespace

AnyFunction real_function(Hooked function) {
  if (real_functions[function] != nullptr) return real_functions[function];
  const HookRow& row = kHookRows[function];
  void* found = row.library == Library::libc_2_3_2 ? dlvsym(RTLD_NEXT, row.name, "GLIBC_2.3.2") : nullptr;
  if (found == nullptr) found = dlsym(RTLD_NEXT, row.name);
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
