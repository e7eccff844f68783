// The ends of a process that no destructor sees: _exit(), with which Python's forked processes end.
#include "native/exits.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "leaving.hpp"
#include "wait_for_trace.hpp"

namespace lotus {
namespace {

using Exit = void (*)(int);
constinit Exit real = nullptr;

// Also in a child of vfork() and in a handler of signals: nothing is looked up here.
[[noreturn]] void leave(int status) {
  say_leaving();
  wait_for_trace();
  if (real != nullptr) real(status);
  for (;;) syscall(SYS_exit_group, status);
}

}  // namespace

void find_real_exits() { real = reinterpret_cast<Exit>(dlsym(RTLD_NEXT, "_exit")); }

}  // namespace lotus

extern "C" [[noreturn, gnu::visibility("default")]] void lotus_exit(int) asm("_exit");
extern "C" [[noreturn, gnu::visibility("default")]] void lotus_Exit(int) asm("_Exit");
void lotus_exit(int status) { lotus::leave(status); }
void lotus_Exit(int status) { lotus::leave(status); }
