// CPython asks libc for the locale while it configures itself, from 3.9 to 3.15, in each way to initialize
// it: after it has set its own state up, and before there is a thread state. That is the moment at which an
// audit hook can be added as if it had been there from the start; dlopen() is not interposed for it, as
// callers' RUNPATH would be lost.
#include "life/arrival.hpp"

#include <cerrno>

#include "native/interposed.hpp"
#include "python/interpreter.hpp"
#include "system/loaded.hpp"

namespace lotus {
namespace {

using Begin = void (*)();
constinit Begin expected = nullptr;

void look_at(const void* caller) {
  const int saved = errno;
  const Loaded object = find_loaded(caller);
  // Of two threads that initialize two interpreters, one gets it.
  if (py::is_interpreter(object) && !object.path().empty()) {
    const Begin begin = __atomic_exchange_n(&expected, nullptr, __ATOMIC_ACQ_REL);
    if (begin != nullptr) {
      py::use_interpreter(object);
      begin();
    }
  }
  errno = saved;
}

// The rule of the table.
struct names_locale {
  template <Hooked F>
  static Word call(const Caller& from, Word category, Word locale) {
    if (__atomic_load_n(&expected, __ATOMIC_ACQUIRE) != nullptr) look_at(from.address);
    const AnyFunction real = real_function(F);
    return real != nullptr ? call_function(real, category, locale) : 0;
  }
};

}  // namespace

void expect_interpreter(void (*begin)()) { __atomic_store_n(&expected, begin, __ATOMIC_RELEASE); }

LOTUS_INTERPOSE(LOTUS_LOCALE_HOOKS)

}  // namespace lotus
