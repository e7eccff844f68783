#include "system/thread_stack.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstddef>

#include "system/loader.hpp"
#include "system/thread_id.hpp"

namespace lotus {
namespace {

using AttributesOf = int (*)(pthread_t, pthread_attr_t*);
using StackOf = int (*)(const pthread_attr_t*, void**, std::size_t*);
constinit AttributesOf attributes_of = nullptr;  // pthread_getattr_np()
constinit StackOf stack_of = nullptr;            // pthread_attr_getstack()

// Of the main thread libc would have to read the list of all mappings. What is above the first Python frame,
// arguments and environment, takes less than half.
std::uintptr_t half_of_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINTPTR_MAX;
  return limit.rlim_cur / 2;
}

}  // namespace

bool find_thread_functions() {
  attributes_of = reinterpret_cast<AttributesOf>(global_symbol("pthread_getattr_np"));
  stack_of = reinterpret_cast<StackOf>(global_symbol("pthread_attr_getstack"));
  return attributes_of != nullptr && stack_of != nullptr;
}

std::uintptr_t stack_below(std::uintptr_t address) {
  if (is_main_thread()) return half_of_limit();
  const int saved = errno;
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  if (attributes_of(pthread_self(), &attributes) == 0) {
    stack_of(&attributes, &lowest, &bytes);
    pthread_attr_destroy(&attributes);
  }
  errno = saved;
  const auto begin = reinterpret_cast<std::uintptr_t>(lowest);
  return address > begin && address - begin <= bytes ? address - begin : 0;
}

}  // namespace lotus
