#include "native/waiting.hpp"

#include <netdb.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/process.hpp"

namespace lotus {

void Waiting::note(Counted hook, const Caller& from, std::uint64_t took) const {
  const int saved = errno;
  std::uint64_t waited = took;
  if (cpu_ns_ != 0) {
    const double ran_ns = static_cast<double>(cpu_ns() - cpu_ns_);
    const auto ran = static_cast<std::uint64_t>(ran_ns * 1e-9 * static_cast<double>(ticks_per_second()));
    waited = took > ran ? took - ran : 0;
  }
  // A child of vfork shares our memory.
  if (waited >= least_wait && counting_thread() != nullptr &&
      process.pid == static_cast<int>(syscall(SYS_getpid))) {
    define_hook(hook);
    record_wait(hook, waited, reinterpret_cast<std::uintptr_t>(from.frame),
                reinterpret_cast<std::uintptr_t>(from.address));
  }
  errno = saved;
}

namespace {

[[gnu::cold]] Word refuse(std::intptr_t failure) {
  errno = ENOSYS;  // a libc without it, asked for by dlsym()
  return static_cast<Word>(failure);
}

// The rules of the table.
template <std::intptr_t Failure, Counted C>
struct fails_with {
  template <Hooked F, class... Words>
  static Word call(const Caller& from, Words... words) {
    const AnyFunction real = real_function(F);
    if (real == nullptr) return refuse(Failure);
    return call_waiting(C, from, 0, [&] { return call_function(real, words...); });
  }
};

template <Counted C>
using blocks = fails_with<-1, C>;

template <Counted C>
struct moves {
  template <Hooked F, class... Rest>
  static Word call(const Caller& from, Word file, Word data, Word bytes, Rest... rest) {
    const AnyFunction real = real_function(F);
    if (real == nullptr) return refuse(-1);
    return call_waiting(C, from, bytes, [&] { return call_function(real, file, data, bytes, rest...); });
  }
};

}  // namespace

LOTUS_INTERPOSE(LOTUS_BLOCKING_HOOKS)

}  // namespace lotus
