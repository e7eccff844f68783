// The ends of a process that no destructor sees: _exit(), with which Python's forked processes end, and exec,
// which puts another program in this one's place. What is pending then of signals goes to that one: none of
// ours may be.
#include "life/exits.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

#include "life/leaving.hpp"
#include "life/wait_for_trace.hpp"
#include "native/hooks.hpp"
#include "native/symbols.hpp"
#include "sampling/sampler.hpp"

namespace lotus {
namespace {

using Exit = void (*)(int);
constinit Exit real_exit = nullptr;

// Also in a child of vfork() and in a handler of signals: nothing is looked up here.
[[noreturn]] void end_process(int status) {
  say_leaving();
  wait_for_trace();
  if (real_exit != nullptr) real_exit(status);
  for (;;) syscall(SYS_exit_group, status);
}

using Function = Word (*)(Word, Word, Word, Word, Word);
enum Symbol : std::size_t {
#define LOTUS_SYMBOL(symbol) k_##symbol,
  LOTUS_EXEC_SYMBOLS(LOTUS_SYMBOL)
#undef LOTUS_SYMBOL
};
constexpr const char* kNames[] = {
#define LOTUS_SYMBOL(symbol) #symbol,
    LOTUS_EXEC_SYMBOLS(LOTUS_SYMBOL)
#undef LOTUS_SYMBOL
};
constinit Function real[std::size(kNames)] = {};

Word replace(std::size_t symbol, Word a, Word b, Word c, Word d, Word e) {
  if (real[symbol] == nullptr)  // before our constructor ran, in another library's
    real[symbol] = reinterpret_cast<Function>(dlsym(RTLD_NEXT, kNames[symbol]));
  if (real[symbol] == nullptr) {  // a libc without it, asked for by dlsym()
    errno = ENOSYS;
    return static_cast<Word>(-1);
  }
  stop_for_exec();
  say_leaving();
  const Word result = real[symbol](a, b, c, d, e);
  say_staying();
  return result;
}

}  // namespace

void find_real_exits() {
  real_exit = reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "_exit"));
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    real[i] = reinterpret_cast<Function>(dlsym(RTLD_NEXT, kNames[i]));
}

}  // namespace lotus

extern "C" [[noreturn, gnu::visibility("default")]] void lotus_exit(int) asm("_exit");
extern "C" [[noreturn, gnu::visibility("default")]] void lotus_Exit(int) asm("_Exit");
void lotus_exit(int status) { lotus::end_process(status); }
void lotus_Exit(int status) { lotus::end_process(status); }

#define LOTUS_SYMBOL(symbol)                                                                              \
  extern "C" [[gnu::visibility("default")]] lotus::Word lotus_##symbol(                                   \
      lotus::Word, lotus::Word, lotus::Word, lotus::Word, lotus::Word) asm(#symbol);                      \
  lotus::Word lotus_##symbol(lotus::Word a, lotus::Word b, lotus::Word c, lotus::Word d, lotus::Word e) { \
    return lotus::replace(lotus::k_##symbol, a, b, c, d, e);                                              \
  }
LOTUS_EXEC_SYMBOLS(LOTUS_SYMBOL)
#undef LOTUS_SYMBOL
