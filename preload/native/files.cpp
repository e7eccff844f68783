// File I/O of C code and of the interpreter, inside the spans of a pipeline: libc's functions, interposed.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "native/hooks.hpp"
#include "native/interposed.hpp"
#include "native/waiting.hpp"
#include "python/sample_file.hpp"
#include "record/reopened.hpp"

namespace lotus {
namespace {

struct Arguments {
  Word a = 0, b = 0, c = 0, d = 0, e = 0, f = 0;  // 0: the function has not got so many
};

Word run(AnyFunction function, const Arguments& with) {
  return call_function(function, with.a, with.b, with.c, with.d, with.e, with.f);
}

// Where a function's arguments are.
enum class Rule { path_first, path_second, stream, bytes, items, items_checked, mapped };

constexpr bool opens(Rule rule) {
  return rule == Rule::path_first || rule == Rule::path_second || rule == Rule::stream;
}

// Before our constructor ran, in another library's. An allocator may map memory there, from inside malloc:
// then not even the loader may be asked.
[[gnu::noinline]] Word call_early(Hooked function, Rule rule, const Arguments& with) {
  if (rule == Rule::mapped)
    return static_cast<Word>(syscall(SYS_mmap, with.a, with.b, with.c, with.d, with.e, with.f));
  if (const AnyFunction real = real_function(function)) return run(real, with);
  errno = ENOSYS;  // a libc without it, asked for by dlsym()
  const bool counts = rule == Rule::stream || rule == Rule::items || rule == Rule::items_checked;
  return counts ? 0 : static_cast<Word>(-1);
}

// A data file that C code opened to read it names the sample, if nothing else has, and is counted.
void note_data_file(const char* path, std::uintptr_t handle) {
  if (!is_data_file(path)) return;
  note_opened(path);
  if (Thread* thread = counting_thread()) count_opened(*thread, path, handle);
}

void note_file(Rule rule, Word a, Word b, Word c, Word result) {
  // What is read from now on may be of this file, under the descriptor of one that is closed.
  if (Thread* thread = this_thread.recorder) thread->opened_handle = 0;
  if (rule == Rule::stream) {
    if (result != 0 && *reinterpret_cast<const char*>(b) == 'r')
      note_data_file(reinterpret_cast<const char*>(a), result);
    return;
  }
  const Word flags = rule == Rule::path_first ? b : c;
  if (static_cast<int>(result) < 0 || (flags & O_ACCMODE) == O_WRONLY ||
      (flags & (O_CREAT | O_DIRECTORY)) != 0)
    return;
  note_data_file(reinterpret_cast<const char*>(rule == Rule::path_first ? a : b),
                 handle_of_descriptor(result));
}

// What was read from the file that this thread opened last. While it was read, the thread may have got a
// recorder of its own, in a forked child, or none.
void note_read(Rule rule, const Arguments& with, std::uint64_t bytes) {
  Thread* thread = this_thread.recorder;
  if (thread == nullptr || bytes == 0) return;
  if (rule == Rule::bytes) count_read(*thread, handle_of_descriptor(with.a), bytes);
  if (rule == Rule::items) count_read(*thread, with.d, bytes);
  if (rule == Rule::items_checked) count_read(*thread, with.e, bytes);
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

// How many bytes it is asked to move.
std::uint64_t bytes_asked(Rule rule, const Arguments& with) {
  switch (rule) {
    case Rule::bytes:
      return with.c;
    case Rule::items:
      return with.b * with.c;
    case Rule::items_checked:
      return with.c * with.d;
    case Rule::mapped:
      return with.b;
    default:
      return 0;
  }
}

[[gnu::noinline]] Word call_counted(Thread& thread, const Caller& from, Hooked symbol, Counted hook,
                                    Rule rule, const Arguments& with) {
  const AnyFunction function = real_functions[symbol];
  const bool no_file = rule == Rule::mapped && maps_memory(with.c, with.d);
  // A child of vfork shares our memory until it executes something; files are what it may open before.
  const bool child = opens(rule) && process.pid != static_cast<int>(syscall(SYS_getpid));
  if (no_file || child) return run(function, with);
  const OpenCall open = count_call(thread, hook);
  const Waiting waiting(bytes_asked(rule, with));
  const Word result = run(function, with);
  const std::uint64_t took = waiting.end(hook, from);
  count_return(open, took, bytes_of(rule, with.b, with.c, result));
  if (opens(rule))
    note_file(rule, with.a, with.b, with.c, result);
  else
    note_read(rule, with, bytes_of(rule, with.b, with.c, result));
  return result;
}

template <Rule R, Counted C>
struct FileCall {
  template <Hooked F, class... Words>
  [[gnu::always_inline]] static Word call(const Caller& from, Words... words) {
    const AnyFunction function = real_functions[F];
    if (function == nullptr) [[unlikely]]
      return call_early(F, R, {words...});
    Thread* thread = counting_thread();
    if (thread == nullptr) [[likely]]
      return call_function(function, words...);
    return call_counted(*thread, from, F, C, R, {words...});
  }
};

// The rules of the table.
template <Counted C>
using path_first = FileCall<Rule::path_first, C>;
template <Counted C>
using path_second = FileCall<Rule::path_second, C>;
template <Counted C>
using stream = FileCall<Rule::stream, C>;
template <Counted C>
using bytes = FileCall<Rule::bytes, C>;
template <Counted C>
using items = FileCall<Rule::items, C>;
template <Counted C>
using items_checked = FileCall<Rule::items_checked, C>;
template <Counted C>
using mapped = FileCall<Rule::mapped, C>;

}  // namespace

LOTUS_INTERPOSE(LOTUS_FILE_HOOKS)

}  // namespace lotus
