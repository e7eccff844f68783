// TurboJPEG: interposed decompression functions.
//
// Its handles do not say which library made them, so the real function is the one that the calling library
// would have been bound to. That is looked up once for each calling library and function.
#include "native/hooks.hpp"
#include "native/interposed.hpp"
#include "system/files.hpp"
#include "system/loaded.hpp"

namespace lotus {
namespace {

// At most nine integers and pointers. The last three lie on the stack.
struct Arguments {
  Word a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0;  // 0: the function has not got so many
};

struct Binding {
  Loaded caller;
  Loaded library;
  Symbol symbol;
  Hooked name;
  HookId hook;
  bool complete;  // published last
};
constexpr std::uint32_t kMaxBindings = 64;  // more are looked up at each call, and not counted
constinit Binding bindings[kMaxBindings] = {};
constinit std::uint32_t binding_count = 0;

const Binding* known_binding(const Loaded& caller, Hooked name) {
  const std::uint32_t count = __atomic_load_n(&binding_count, __ATOMIC_RELAXED);
  for (std::uint32_t i = 0; i < count && i < kMaxBindings; ++i) {
    const Binding& binding = bindings[i];
    if (!__atomic_load_n(&binding.complete, __ATOMIC_ACQUIRE)) continue;
    if (binding.name == name && binding.caller == caller &&
        find_loaded(binding.symbol.address()) == binding.library &&
        binding.symbol.holds(kHookRows[name].name))
      return &binding;
  }
  return nullptr;
}

HookId hook_for(const Symbol& symbol, Hooked name, const Loaded& library) {
  for (const Binding& binding : bindings)
    if (binding.complete && binding.symbol.address() == symbol.address() && binding.library == library)
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

Word run(AnyFunction function, const Arguments& with) {
  return call_function(function, with.a, with.b, with.c, with.d, with.e, with.f, with.g, with.h, with.i);
}

Word call(Hooked name, const void* caller, const void* ours, const Arguments& with) {
  const Loaded from = find_loaded(caller);
  const Binding* binding = known_binding(from, name);
  if (binding == nullptr) {
    void* function = bind_for_caller(caller, kHookRows[name].name, ours);
    if (function == nullptr) return static_cast<Word>(-1);  // TurboJPEG's failure
    add_binding(from, name, function);
    binding = known_binding(from, name);
    if (binding == nullptr) return run(reinterpret_cast<AnyFunction>(function), with);
  }
  const auto function = reinterpret_cast<AnyFunction>(binding->symbol.address());
  Thread* thread = counting_thread();
  if (thread == nullptr || binding->hook == 0) return run(function, with);
  return timed(*thread, binding->hook, [&] { return run(function, with); });
}

// The rule of the table.
struct decompresses {
  template <Hooked F, class... Words>
  static Word call(const Caller& from, Words... words) {
    return lotus::call(F, from.address, from.ours, {words...});
  }
};

}  // namespace

LOTUS_INTERPOSE(LOTUS_TURBOJPEG_HOOKS)

}  // namespace lotus
