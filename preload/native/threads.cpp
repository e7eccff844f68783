// The program's new threads: each begins with a stack for samples, and with a clock of its own, so that one
// that lives within a single operation is sampled, too. One that starts another way (clone) has no such stack
// and is not sampled, unless it loads data itself.
#include <cerrno>
#include <cstddef>

#include "native/interposed.hpp"
#include "sampling/sampler.hpp"
#include "system/alternate_stack.hpp"

namespace lotus {
namespace {

using Routine = void* (*)(void*);

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

// The rule of the table.
struct begins_thread {
  template <Hooked F>
  static Word call(const Caller&, Word thread, Word attributes, Word routine, Word argument) {
    const AnyFunction real = real_function(F);
    if (real == nullptr) return ENOSYS;
    Start* const start = sampler_wanted ? take_start() : nullptr;
    if (start == nullptr) return call_function(real, thread, attributes, routine, argument);
    start->routine = reinterpret_cast<Routine>(routine);
    start->argument = reinterpret_cast<void*>(argument);
    const Word problem =
        call_function(real, thread, attributes, reinterpret_cast<Word>(&run), reinterpret_cast<Word>(start));
    if (static_cast<int>(problem) != 0) give_back(*start);
    return problem;
  }
};

}  // namespace

LOTUS_INTERPOSE(LOTUS_THREAD_HOOKS)

}  // namespace lotus
