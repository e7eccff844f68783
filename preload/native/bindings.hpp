// Interposed functions whose arguments do not say which library they are of: the real function is the one
// that the calling library would have been bound to. That is looked up once for each calling library and
// function.
//
// A family of such functions, each call of which is timed, is rows of the hook table with the rule below.
#pragma once

#include "native/interposed.hpp"

namespace lotus {

// At most nine integers and pointers. The last three lie on the stack.
struct CallArguments {
  Word a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0, i = 0;  // 0: the function has not got so many
};

// Calls the real function, counted and timed if the call is one of the pipeline. `failure`: the result where
// no library has the function. `errno` is left as the real function leaves it.
Word call_bound(Hooked name, const void* caller, const void* ours, const CallArguments& with, Word failure);

// The rule of a function that returns `failure` when it fails.
template <std::intptr_t failure>
struct timed_each {
  template <Hooked F, class... Words>
  static Word call(const Caller& from, Words... words) {
    return call_bound(F, from.address, from.ours, {words...}, static_cast<Word>(failure));
  }
};

}  // namespace lotus
