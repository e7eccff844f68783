// File I/O of C code and of the interpreter, inside the spans of a pipeline: libc's functions, interposed.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <iterator>

#include "native/hooks.hpp"
#include "native/symbols.hpp"
#include "python/sample_file.hpp"

namespace lotus {
namespace {

// What these functions take are at most six integers and pointers, in registers; what they return is one. A
// C function may be called with more arguments than it reads: one type fits all.
using Function = Word (*)(Word, Word, Word, Word, Word, Word);

enum Symbol : std::size_t {
#define LOTUS_SYMBOL(symbol, hook, rule) k_##symbol,
  LOTUS_FILE_SYMBOLS(LOTUS_SYMBOL)
#undef LOTUS_SYMBOL
};
constexpr HookName kHookNames[] = {
#define LOTUS_HOOK(name) {#name, "libc.so.6"},
    LOTUS_FILE_HOOKS(LOTUS_HOOK)
#undef LOTUS_HOOK
};
enum Hook : HookId {
  k_none_hook,
#define LOTUS_HOOK(name) k_##name##_hook,
  LOTUS_FILE_HOOKS(LOTUS_HOOK)
#undef LOTUS_HOOK
};
constexpr const char* kNames[] = {
#define LOTUS_SYMBOL(symbol, hook, rule) #symbol,
    LOTUS_FILE_SYMBOLS(LOTUS_SYMBOL)
#undef LOTUS_SYMBOL
};
constinit Function real[std::size(kNames)] = {};

// Where a function's arguments are.
enum class Rule { path_first, path_second, stream, bytes, items, items_checked, mapped };

constexpr bool opens(Rule rule) {
  return rule == Rule::path_first || rule == Rule::path_second || rule == Rule::stream;
}

// Before our constructor ran, in another library's. An allocator may map memory there, from inside malloc:
// then not even the loader may be asked.
[[gnu::noinline]] Word call_early(std::size_t symbol, Rule rule, Word a, Word b, Word c, Word d, Word e,
                                  Word f) {
  if (rule == Rule::mapped) return static_cast<Word>(syscall(SYS_mmap, a, b, c, d, e, f));
  const auto found = reinterpret_cast<Function>(dlsym(RTLD_NEXT, kNames[symbol]));
  return found(a, b, c, d, e, f);
}

// A data file that C code opened to read it names the sample, if nothing else has.
void note_file(Rule rule, Word a, Word b, Word c, Word result) {
  if (rule == Rule::stream) {
    if (result != 0 && *reinterpret_cast<const char*>(b) == 'r')
      note_opened(reinterpret_cast<const char*>(a));
    return;
  }
  const Word flags = rule == Rule::path_first ? b : c;
  if (static_cast<int>(result) < 0 || (flags & O_ACCMODE) == O_WRONLY ||
      (flags & (O_CREAT | O_DIRECTORY)) != 0)
    return;
  note_opened(reinterpret_cast<const char*>(rule == Rule::path_first ? a : b));
}

// Memory of this process, or memory that processes share, as tensors between workers and the training process
// are: nothing is read from a file there.
bool maps_memory(Word protection, Word flags) {
  const bool shared = (flags & MAP_TYPE) != MAP_PRIVATE;
  return (flags & MAP_ANONYMOUS) != 0 || (shared && (protection & PROT_WRITE) != 0);
}

std::uint64_t bytes_of(Rule rule, Word b, Word c, Word result) {
  switch (rule) {
    case Rule::bytes:
      return static_cast<std::intptr_t>(result) > 0 ? result : 0;
    case Rule::items:
      return result * b;
    case Rule::items_checked:
      return result * c;
    case Rule::mapped:
      return reinterpret_cast<void*>(result) != MAP_FAILED ? b : 0;
    default:
      return 0;
  }
}

[[gnu::noinline]] Word call_counted(Thread& thread, std::size_t symbol, HookId hook, Rule rule, Word a,
                                    Word b, Word c, Word d, Word e, Word f) {
  const Function function = real[symbol];
  const bool no_file = rule == Rule::mapped && maps_memory(c, d);
  // A child of vfork shares our memory until it executes something; files are what it may open before.
  const bool child = opens(rule) && process.pid != static_cast<int>(syscall(SYS_getpid));
  if (no_file || child) return function(a, b, c, d, e, f);
  const Word result = timed(
      thread, hook, [&] { return function(a, b, c, d, e, f); },
      [&](Word value) { return bytes_of(rule, b, c, value); });
  if (opens(rule)) note_file(rule, a, b, c, result);
  return result;
}

template <std::size_t S, HookId H, Rule R>
[[gnu::always_inline]] inline Word call(Word a, Word b, Word c, Word d, Word e, Word f) {
  const Function function = real[S];
  if (function == nullptr) [[unlikely]]
    return call_early(S, R, a, b, c, d, e, f);
  Thread* thread = counting_thread();
  if (thread == nullptr) [[likely]]
    return function(a, b, c, d, e, f);
  return call_counted(*thread, S, H, R, a, b, c, d, e, f);
}

}  // namespace

void find_real_files() {
  add_first_hooks(kHookNames, std::size(kHookNames));
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    real[i] = reinterpret_cast<Function>(dlsym(RTLD_NEXT, kNames[i]));
}

}  // namespace lotus

#define LOTUS_SYMBOL(symbol, hook, rule)                                                                \
  extern "C" [[gnu::visibility("default")]] lotus::Word lotus_##symbol(                                 \
      lotus::Word, lotus::Word, lotus::Word, lotus::Word, lotus::Word, lotus::Word) asm(#symbol);       \
  lotus::Word lotus_##symbol(lotus::Word a, lotus::Word b, lotus::Word c, lotus::Word d, lotus::Word e, \
                             lotus::Word f) {                                                           \
    return lotus::call<lotus::k_##symbol, lotus::k_##hook##_hook, lotus::Rule::rule>(a, b, c, d, e, f); \
  }
LOTUS_FILE_SYMBOLS(LOTUS_SYMBOL)
#undef LOTUS_SYMBOL
