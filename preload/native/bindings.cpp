#include "native/bindings.hpp"

#include "native/hooks.hpp"
#include "system/files.hpp"
#include "system/loaded.hpp"

namespace lotus {
namespace {

// The function `name`, for one calling library.
struct Binding {
  Loaded caller;
  Loaded library;
  Symbol symbol;
  Hooked name;
  HookId hook;
  bool complete;  // published last
};
constexpr std::uint32_t kMaxBindings =
    64;  // of all families; more are looked up at each call, and not counted
constinit Binding bindings[kMaxBindings] = {};
constinit std::uint32_t binding_count = 0;

bool is_complete(const Binding& binding) { return __atomic_load_n(&binding.complete, __ATOMIC_ACQUIRE); }

const Binding* known_binding(const Loaded& caller, Hooked name) {
  const std::uint32_t count = __atomic_load_n(&binding_count, __ATOMIC_RELAXED);
  for (std::uint32_t i = 0; i < count && i < kMaxBindings; ++i) {
    const Binding& binding = bindings[i];
    if (!is_complete(binding)) continue;
    if (binding.name == name && binding.caller == caller &&
        find_loaded(binding.symbol.address()) == binding.library &&
        binding.symbol.holds(kHookRows[name].name))
      return &binding;
  }
  return nullptr;
}

// The hook of this function, which other callers may have been bound to. A library may define two names at
// one address.
HookId hook_for(const Symbol& symbol, Hooked name, const Loaded& library) {
  for (const Binding& binding : bindings)
    if (is_complete(binding) && binding.name == name && binding.symbol.address() == symbol.address() &&
        binding.library == library)
      return binding.hook;
  return add_hook(kHookRows[name].name, base_name(library.path()));
}

void add_binding(const Loaded& caller, Hooked name, const void* function) {
  const Loaded library = find_loaded(function);
  const Symbol symbol = library ? find_symbol(library, kHookRows[name].name) : Symbol{};
  if (!symbol || symbol.address() != function) return;
  const std::uint32_t index = __atomic_fetch_add(&binding_count, 1, __ATOMIC_RELAXED);
  if (index >= kMaxBindings) {
    __atomic_store_n(&binding_count, kMaxBindings, __ATOMIC_RELAXED);
    return;
  }
  Binding& binding = bindings[index];
  binding.caller = caller;
  binding.library = library;
  binding.symbol = symbol;
  binding.name = name;
  binding.hook = hook_for(symbol, name, library);
  __atomic_store_n(&binding.complete, true, __ATOMIC_RELEASE);
}

Word run(AnyFunction function, const CallArguments& with) {
  return call_function(function, with.a, with.b, with.c, with.d, with.e, with.f, with.g, with.h, with.i);
}

}  // namespace

Word call_bound(Hooked name, const void* caller, const void* ours, const CallArguments& with, Word failure) {
  const Loaded from = find_loaded(caller);
  const Binding* binding = known_binding(from, name);
  if (binding == nullptr) {
    void* function = bind_for_caller(caller, kHookRows[name].name, ours);
    if (function == nullptr) return failure;
    add_binding(from, name, function);
    binding = known_binding(from, name);
    if (binding == nullptr) return run(reinterpret_cast<AnyFunction>(function), with);
  }
  const auto function = reinterpret_cast<AnyFunction>(binding->symbol.address());
  Thread* thread = counting_thread();
  if (thread == nullptr || binding->hook == 0) return run(function, with);
  return timed(*thread, binding->hook, [&] { return run(function, with); });
}

}  // namespace lotus
