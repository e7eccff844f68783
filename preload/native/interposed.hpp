// What the hook table expands to: for each row a number, a name, libc's own function, and the function that
// stands in its place.
//
// A file that interposes a family of functions has a type for each rule of its rows, with
//
//   template <Hooked F> static Word call(const Caller& from, Word…)
//
// which is called in the place of function F, with as many words as the row says; LOTUS_INTERPOSE(family),
// inside of namespace lotus, makes the functions.
#pragma once

#include <cstdint>

#include "native/hook_table.hpp"
#include "record/hook_names.hpp"
#include "system/hot.hpp"

namespace lotus {

// An integer or a pointer: all that the functions hooked here take and return.
using Word = std::uintptr_t;

// Whose a function is. Those of libc are looked up once, at the start; the other names are labels. Conditions
// of threads are others since glibc 2.3.2, and dlsym() finds the old ones in some versions.
enum class Library : std::uint8_t { libc, libc_2_3_2, libjpeg, libturbojpeg, libwebp, libc10 };

enum Hooked : std::uint32_t {
#define LOTUS_HOOK(symbol, ...) hooked_##symbol,
  LOTUS_HOOKS(LOTUS_HOOK)
#undef LOTUS_HOOK
      kHookedFunctions
};

struct HookRow {
  const char* name;
  Library library;
};
inline constexpr HookRow kHookRows[] = {
#define LOTUS_HOOK(symbol, library, ...) {#symbol, Library::library},
    LOTUS_HOOKS(LOTUS_HOOK)
#undef LOTUS_HOOK
};

// Numbers of the hooks that are there from the beginning, in the order of their names.
enum Counted : HookId {
  counted_nothing,
#define LOTUS_HOOK(name) counted_##name,
  LOTUS_COUNTED(LOTUS_HOOK) LOTUS_WAITING(LOTUS_HOOK)
#undef LOTUS_HOOK
};

// A C function may be called with more arguments than it reads, and its result is in a register.
using AnyFunction = void (*)();
template <class... Words>
[[gnu::always_inline]] inline Word call_function(AnyFunction function, Words... words) {
  return reinterpret_cast<Word (*)(Words...)>(function)(words...);
}

// libc's own functions; those of other libraries differ from caller to caller. nullptr: before our
// constructor ran, in another library's, or libc has not got it.
LOTUS_DIRECT extern AnyFunction real_functions[kHookedFunctions];

// The same, looked up if need be.
AnyFunction real_function(Hooked function);

// Finds libc's own functions. Called once, before any thread exists.
void find_real_functions();

// Who calls an interposed function, and the address of that; where the caller's frame begins on the stack.
struct Caller {
  const void* address;
  const void* ours;
  const void* frame;
};

// The parameters of a function with so many arguments, and their values.
#define LOTUS_WORDS_1 Word a
#define LOTUS_WORDS_2 LOTUS_WORDS_1, Word b
#define LOTUS_WORDS_3 LOTUS_WORDS_2, Word c
#define LOTUS_WORDS_4 LOTUS_WORDS_3, Word d
#define LOTUS_WORDS_5 LOTUS_WORDS_4, Word e
#define LOTUS_WORDS_6 LOTUS_WORDS_5, Word f
#define LOTUS_WORDS_7 LOTUS_WORDS_6, Word g
#define LOTUS_WORDS_8 LOTUS_WORDS_7, Word h
#define LOTUS_WORDS_9 LOTUS_WORDS_8, Word i
#define LOTUS_VALUES_1 a
#define LOTUS_VALUES_2 LOTUS_VALUES_1, b
#define LOTUS_VALUES_3 LOTUS_VALUES_2, c
#define LOTUS_VALUES_4 LOTUS_VALUES_3, d
#define LOTUS_VALUES_5 LOTUS_VALUES_4, e
#define LOTUS_VALUES_6 LOTUS_VALUES_5, f
#define LOTUS_VALUES_7 LOTUS_VALUES_6, g
#define LOTUS_VALUES_8 LOTUS_VALUES_7, h
#define LOTUS_VALUES_9 LOTUS_VALUES_8, i

#define LOTUS_INTERPOSED(symbol, library, arguments, ...)                                              \
  extern "C" [[gnu::visibility("default")]] Word lotus_##symbol(LOTUS_WORDS_##arguments) asm(#symbol); \
  Word lotus_##symbol(LOTUS_WORDS_##arguments) {                                                       \
    return __VA_ARGS__::template call<hooked_##symbol>(                                                \
        {__builtin_return_address(0), reinterpret_cast<const void*>(&lotus_##symbol),                  \
         __builtin_dwarf_cfa()},                                                                       \
        LOTUS_VALUES_##arguments);                                                                     \
  }
#define LOTUS_INTERPOSE(family) family(LOTUS_INTERPOSED)

}  // namespace lotus
