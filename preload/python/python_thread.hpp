// What is known of a thread by its Python frames.
#pragma once

#include <cstdint>

namespace lotus {

struct Context;
struct PythonCall;
struct UnhookedCall;

// What this thread is doing, as far as Python frames told: what calls and operations need, in one line of
// memory.
struct alignas(64) PythonThread {
  std::uintptr_t stack_floor =
      UINTPTR_MAX;  // below it, recursion is too deep for hooked calls; MAX: not known yet
  Context* context{};
  std::uint64_t context_serial{};  // of `context`
  std::uint64_t serials{};
  const PythonCall* calls{};     // inside the pipeline, innermost first
  UnhookedCall* unhooked{};      // what runs without our evaluator now, inside all of these; nullptr: nothing
  std::uint32_t calls_inside{};  // seen by the evaluator in the pipeline, not recorded yet
  std::uint32_t calls_outside{};  // the same outside of it
  std::uint32_t looks{};          // calls that were looked at: they play a role, or it was not known
  bool unbalanced{};              // see mark_unbalanced()
  bool in_sample{};               // a sample is being made, …
  bool path_known{};              // … and its file is known
  std::uint8_t locks{};           // how often this thread holds the state lock
};
static_assert(sizeof(PythonThread) == 64);
extern constinit thread_local PythonThread python_thread;

// This thread's calls do not nest: something else than return left one of them. Greenlets do so all the time,
// and run other calls on the same stack meanwhile, so that a context may not be what it was. Nothing of
// Python is recorded in this thread any more.
[[gnu::cold]] void mark_unbalanced();

// In a forked child, which goes on with the stack of the thread that forked.
void forget_python_thread();

}  // namespace lotus
