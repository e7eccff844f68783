// TurboJPEG: interposed decompression functions.
//
// Its handles do not say which library made them, so the real function is the one that the calling library
// would have been bound to. That is looked up once for each calling library and function.
#include <iterator>

#include "native/hooks.hpp"
#include "native/symbols.hpp"
#include "system/files.hpp"
#include "system/loaded.hpp"

namespace lotus {
namespace {

// At most nine integers and pointers. The last three lie on the stack; where a function takes fewer, what
// lies there instead is passed on and not looked at.
struct Arguments {
  Word a, b, c, d, e, f, g, h, i;
};
using Function = Word (*)(Word, Word, Word, Word, Word, Word, Word, Word, Word);

enum TurboSymbol : std::size_t {
#define LOTUS_SYMBOL(symbol) k_##symbol,
  LOTUS_TURBOJPEG_SYMBOLS(LOTUS_SYMBOL)
#undef LOTUS_SYMBOL
};
constexpr const char* kNames[] = {
#define LOTUS_SYMBOL(symbol) #symbol,
    LOTUS_TURBOJPEG_SYMBOLS(LOTUS_SYMBOL)
#undef LOTUS_SYMBOL
};

struct Binding {
  Loaded caller;
  Loaded library;
  Symbol symbol;
  std::size_t name;
  HookId hook;
  bool complete;  // published last
};
constexpr std::uint32_t kMaxBindings = 64;  // more are looked up at each call, and not counted
constinit Binding bindings[kMaxBindings] = {};
constinit std::uint32_t binding_count = 0;

const Binding* known_binding(const Loaded& caller, std::size_t name) {
  const std::uint32_t count = __atomic_load_n(&binding_count, __ATOMIC_RELAXED);
  for (std::uint32_t i = 0; i < count && i < kMaxBindings; ++i) {
    const Binding& binding = bindings[i];
    if (!__atomic_load_n(&binding.complete, __ATOMIC_ACQUIRE)) continue;
    if (binding.name == name && binding.caller == caller &&
        find_loaded(binding.symbol.address()) == binding.library && binding.symbol.holds(kNames[name]))
      return &binding;
  }
  return nullptr;
}

HookId hook_for(const Symbol& symbol, std::size_t name, const Loaded& library) {
  for (const Binding& binding : bindings)
    if (binding.complete && binding.symbol.address() == symbol.address() && binding.library == library)
      return binding.hook;
  return add_hook(kNames[name], base_name(library.path()));
}

void add_binding(const Loaded& caller, std::size_t name, const void* function) {
  const Loaded library = find_loaded(function);
  const Symbol symbol = library ? find_symbol(library, kNames[name]) : Symbol{};
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

Word run(Function function, const Arguments& with) {
  return function(with.a, with.b, with.c, with.d, with.e, with.f, with.g, with.h, with.i);
}

Word call(std::size_t name, const void* caller, const void* ours, const Arguments& with) {
  const Loaded from = find_loaded(caller);
  const Binding* binding = known_binding(from, name);
  if (binding == nullptr) {
    void* function = bind_for_caller(caller, kNames[name], ours);
    if (function == nullptr) return static_cast<Word>(-1);  // TurboJPEG's failure
    add_binding(from, name, function);
    binding = known_binding(from, name);
    if (binding == nullptr) return run(reinterpret_cast<Function>(function), with);
  }
  const auto function = reinterpret_cast<Function>(binding->symbol.address());
  Thread* thread = counting_thread();
  if (thread == nullptr || binding->hook == 0) return run(function, with);
  return timed(*thread, binding->hook, [&] { return run(function, with); });
}

}  // namespace
}  // namespace lotus

#define LOTUS_SYMBOL(symbol)                                                                            \
  extern "C" [[gnu::visibility("default")]] lotus::Word lotus_##symbol(                                 \
      lotus::Word, lotus::Word, lotus::Word, lotus::Word, lotus::Word, lotus::Word, lotus::Word,        \
      lotus::Word, lotus::Word) asm(#symbol);                                                           \
  lotus::Word lotus_##symbol(lotus::Word a, lotus::Word b, lotus::Word c, lotus::Word d, lotus::Word e, \
                             lotus::Word f, lotus::Word g, lotus::Word h, lotus::Word i) {              \
    return lotus::call(lotus::k_##symbol, __builtin_return_address(0),                                  \
                       reinterpret_cast<const void*>(&lotus_##symbol), {a, b, c, d, e, f, g, h, i});    \
  }
LOTUS_TURBOJPEG_SYMBOLS(LOTUS_SYMBOL)
#undef LOTUS_SYMBOL
