// The ends of a process that no destructor sees: _exit(), with which Python's forked processes end, and exec,
// which puts another program in this one's place. What is pending then of signals goes to that one: none of
// ours may be.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "life/leaving.hpp"
#include "life/wait_for_trace.hpp"
#include "native/interposed.hpp"
#include "sampling/sampler.hpp"

namespace lotus {
namespace {

// Also in a child of vfork() and in a handler of signals: nothing is looked up here.
[[noreturn]] void end_process(Word status) {
  say_leaving_at_once();
  wait_for_trace();
  if (const AnyFunction function = real_functions[hooked__exit]) call_function(function, status);
  for (;;) syscall(SYS_exit_group, status);
}

Word replace_program(Hooked hooked, Word a, Word b, Word c, Word d, Word e) {
  const AnyFunction function = real_function(hooked);
  if (function == nullptr) {  // a libc without it, asked for by dlsym()
    errno = ENOSYS;
    return static_cast<Word>(-1);
  }
  stop_for_exec();
  say_leaving_at_once();
  const Word result = call_function(function, a, b, c, d, e);
  say_staying();
  return result;
}

// The rules of the table.
struct ends_process {
  template <Hooked>
  [[noreturn]] static Word call(const Caller&, Word status) {
    end_process(status);
  }
};

struct replaces_program {
  template <Hooked F>
  static Word call(const Caller&, Word a, Word b, Word c = 0, Word d = 0, Word e = 0) {
    return replace_program(F, a, b, c, d, e);
  }
};

}  // namespace

LOTUS_INTERPOSE(LOTUS_EXIT_HOOKS)

}  // namespace lotus
