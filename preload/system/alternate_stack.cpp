#include "system/alternate_stack.hpp"

#include <sys/auxv.h>
#include <sys/mman.h>

#include "system/thread_id.hpp"

namespace lotus {
namespace {

constexpr std::uint32_t kStacks = 512;  // threads at one time; others are not sampled
// The kernel's frame takes 4 KiB with AVX-512, 12 with AMX; the rest is for handlers of the program that ask
// for an alternate stack where it has none of its own. Pages that nothing touches take no memory.
constexpr std::size_t kStackBytes = std::size_t{256} * 1024;
constexpr std::size_t kGuardBytes = 4096;  // below each
constexpr std::uintptr_t kNear = std::uintptr_t{256} * 1024;

// Made when a thread first needs it, and used again by others.
struct Stack {
  std::uint32_t owner;  // thread; 0: none
  std::uint8_t* memory;
};
constinit Stack stacks[kStacks] = {};
constexpr std::uint32_t kLooks = 8;
constinit std::uint32_t looked_at = 0;
constinit pid_t home = 0;  // the process whose threads have them: a child of vfork is another
constinit thread_local Stack* mine = nullptr;         // also where the program has given the thread one
constinit thread_local std::uintptr_t beginning = 0;  // of this thread's own stack, which grows downwards

bool take(Stack& stack, std::uint32_t from, std::uint32_t to) {
  return __atomic_compare_exchange_n(&stack.owner, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

std::uint32_t owner_of(const Stack& stack) { return __atomic_load_n(&stack.owner, __ATOMIC_ACQUIRE); }

// One that is this thread's now; nullptr: all are in use.
Stack* take_stack(std::uint32_t tid) {
  for (Stack& stack : stacks)
    if (take(stack, 0, tid)) return &stack;
  // All are in use: a few are looked at, others by the next thread.
  const std::uint32_t first = __atomic_fetch_add(&looked_at, kLooks, __ATOMIC_RELAXED);
  for (std::uint32_t i = 0; i < kLooks; ++i) {
    Stack& stack = stacks[(first + i) % kStacks];
    if (const std::uint32_t owner = owner_of(stack); thread_is_gone(owner) && take(stack, owner, tid))
      return &stack;
  }
  return nullptr;
}

bool has_memory(Stack& stack) {
  if (stack.memory != nullptr) return true;
  // The system call itself: the interposed mmap counts the program's files.
  const long made = syscall(SYS_mmap, nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0L);
  if (made == -1) return false;
  stack.memory = reinterpret_cast<std::uint8_t*>(made);
  mprotect(stack.memory, kGuardBytes, PROT_NONE);
  return true;
}

bool install(Stack& stack) {
  stack_t ours{};
  if (!has_memory(stack)) return false;
  ours.ss_sp = stack.memory + kGuardBytes;
  ours.ss_size = kStackBytes - kGuardBytes;
  return syscall(SYS_sigaltstack, &ours, nullptr) == 0;
}

void give_back_own() {
  __atomic_store_n(&mine->owner, 0, __ATOMIC_RELEASE);
  mine = nullptr;
}

bool current(stack_t& stack) { return syscall(SYS_sigaltstack, nullptr, &stack) == 0; }

}  // namespace

bool is_alternate_stack(const stack_t& stack) {
  return mine != nullptr && mine->memory != nullptr && stack.ss_sp == mine->memory + kGuardBytes;
}

bool has_alternate_stack(std::uint32_t tid) {
  for (const Stack& stack : stacks)
    if (owner_of(stack) == tid) return true;
  return false;
}

void use_alternate_stack(std::uintptr_t stack) {
  if (home == 0) return;
  const int saved = errno;
  // Of the main thread the kernel says where its stack begins.
  if (beginning == 0) beginning = is_main_thread() ? getauxval(AT_RANDOM) : stack;
  stack_t now{};
  if (home == getpid()) {
    if (mine == nullptr) mine = take_stack(own_tid());
    const bool none = mine != nullptr && current(now) && (now.ss_flags & SS_DISABLE) != 0;
    if (none && !install(*mine)) give_back_own();
  }
  errno = saved;
}

void leave_alternate_stack() {
  if (mine == nullptr) return;
  const int saved = errno;
  stack_t now{};
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  const bool in_use = current(now) && is_alternate_stack(now);
  if (!in_use || syscall(SYS_sigaltstack, &none, nullptr) == 0) give_back_own();
  errno = saved;
}

void begin_alternate_stacks() {
  const int saved = errno;
  home = getpid();
  for (Stack& stack : stacks) {
    if (&stack == mine)
      __atomic_store_n(&stack.owner, own_tid(), __ATOMIC_RELEASE);
    else if (owner_of(stack) != 0 && thread_is_gone(owner_of(stack)))  // others began here, before this
      __atomic_store_n(&stack.owner, 0, __ATOMIC_RELEASE);
  }
  errno = saved;
}

bool in_own_stack(std::uintptr_t address) { return address < beginning && beginning - address < kNear; }

}  // namespace lotus
