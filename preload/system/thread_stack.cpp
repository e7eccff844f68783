#include "system/thread_stack.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <cerrno>

#include "system/thread_id.hpp"

namespace lotus {
namespace {

// Of the main thread libc would have to read the list of all mappings. What is above the first Python frame,
// arguments and environment, takes less than half.
std::uintptr_t half_of_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINTPTR_MAX;
  return limit.rlim_cur / 2;
}

}  // namespace

std::uintptr_t stack_below(std::uintptr_t address) {
  if (is_main_thread()) return half_of_limit();
  const int saved = errno;
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &lowest, &bytes);
    pthread_attr_destroy(&attributes);
  }
  errno = saved;
  const auto begin = reinterpret_cast<std::uintptr_t>(lowest);
  return address > begin && address - begin <= bytes ? address - begin : 0;
}

}  // namespace lotus
