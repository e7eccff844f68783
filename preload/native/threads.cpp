// The program's new threads: each begins with a stack for samples, and with a clock of its own, so that one
// that lives within a single operation is sampled, too. One that starts another way (clone) has no such stack
// and is not sampled, unless it loads data itself.
#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <cstddef>

#include "native/symbols.hpp"
#include "sampling/sampler.hpp"
#include "system/alternate_stack.hpp"

namespace lotus {
namespace {

using Routine = void* (*)(void*);
using Create = int (*)(pthread_t*, const pthread_attr_t*, Routine, void*);

// What a thread is to run, kept until it runs: nothing is allocated here, where an allocator may be starting
// its own. In a forked child those are lost that were about to be read just then.
struct Start {
  bool taken;
  Routine routine;
  void* argument;
};
constexpr std::size_t kStarts = 512;  // at one time; further threads are like those that start another way
constinit Start starts[kStarts] = {};

Start* take_start() {
  for (Start& start : starts)
    if (!__atomic_test_and_set(&start.taken, __ATOMIC_ACQUIRE)) return &start;
  return nullptr;
}

void give_back(Start& start) { __atomic_clear(&start.taken, __ATOMIC_RELEASE); }

void* run(void* given) {
  auto& start = *static_cast<Start*>(given);
  const Routine routine = start.routine;
  void* const argument = start.argument;
  give_back(start);
  use_alternate_stack(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  sample_this_thread();
  void* const result = routine(argument);
  leave_alternate_stack();
  return result;
}

int create(pthread_t* thread, const pthread_attr_t* attributes, Routine routine, void* argument) {
  static constinit Create real = nullptr;
  if (real == nullptr) real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (real == nullptr) return ENOSYS;
  Start* const start = sampler_wanted ? take_start() : nullptr;
  if (start == nullptr) return real(thread, attributes, routine, argument);
  start->routine = routine;
  start->argument = argument;
  const int problem = real(thread, attributes, run, start);
  if (problem != 0) give_back(*start);
  return problem;
}

}  // namespace

}  // namespace lotus

extern "C" [[gnu::visibility("default")]] int lotus_pthread_create(pthread_t*, const pthread_attr_t*,
                                                                   void* (*)(void*),
                                                                   void*) asm("pthread_create");
int lotus_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                         void* argument) {
  return lotus::create(thread, attributes, routine, argument);
}
