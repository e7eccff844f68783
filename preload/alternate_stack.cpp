#include "alternate_stack.hpp"

#include <sys/auxv.h>
#include <sys/mman.h>

#include "thread_id.hpp"

namespace lotus {
namespace {

constexpr std::uint32_t kStacks = 512;  // threads at one time; others go without
// The kernel's frame takes 4 KiB with AVX-512, 12 with AMX; the rest is for handlers of the program that ask
// for an alternate stack where it has none of its own. Pages that nothing touches take no memory.
constexpr std::size_t kStackBytes = std::size_t{64} * 1024;
constexpr std::size_t kGuardBytes = 4096;  // below each
constexpr std::uintptr_t kNear = std::uintptr_t{256} * 1024;

// Made when a thread first needs it, and used again by others. All zero: no thread has it.
struct Stack {
  std::uint32_t owner;
  std::uint8_t* memory;
};
constinit Stack stacks[kStacks] = {};
constinit thread_local std::uintptr_t beginning = 0;  // of this thread's own stack, which grows downwards

bool take(Stack& stack, std::uint32_t from, std::uint32_t to) {
  return __atomic_compare_exchange_n(&stack.owner, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

void give_back(Stack& stack) { __atomic_store_n(&stack.owner, 0, __ATOMIC_RELEASE); }

// One that is this thread's now; nullptr: all are in use.
Stack* take_stack(std::uint32_t tid) {
  for (Stack& stack : stacks)
    if (take(stack, 0, tid) || __atomic_load_n(&stack.owner, __ATOMIC_ACQUIRE) == tid) return &stack;
  for (Stack& stack : stacks) {
    const std::uint32_t owner = __atomic_load_n(&stack.owner, __ATOMIC_ACQUIRE);
    if (thread_is_gone(owner) && take(stack, owner, tid)) return &stack;
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

bool current(stack_t& stack) { return syscall(SYS_sigaltstack, nullptr, &stack) == 0; }

// Which of ours it is; nullptr: none.
Stack* find(const stack_t& wanted) {
  for (Stack& stack : stacks)
    if (stack.memory != nullptr && stack.memory + kGuardBytes == wanted.ss_sp) return &stack;
  return nullptr;
}

}  // namespace

bool is_alternate_stack(const stack_t& stack) { return find(stack) != nullptr; }

void use_alternate_stack(std::uintptr_t stack) {
  const int saved = errno;
  // Of the main thread the kernel says where its stack begins.
  if (beginning == 0)
    beginning = own_tid() == static_cast<std::uint32_t>(getpid()) ? getauxval(AT_RANDOM) : stack;
  stack_t now{};
  if (current(now) && (now.ss_flags & SS_DISABLE) != 0)
    if (Stack* const taken = take_stack(own_tid()); taken != nullptr && !install(*taken)) give_back(*taken);
  errno = saved;
}

void leave_alternate_stack() {
  const int saved = errno;
  stack_t now{};
  if (Stack* const ours = current(now) ? find(now) : nullptr; ours != nullptr) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (syscall(SYS_sigaltstack, &none, nullptr) == 0) give_back(*ours);
  }
  errno = saved;
}

void forget_alternate_stacks() {
  stack_t now{};
  const Stack* const mine = current(now) ? find(now) : nullptr;
  for (Stack& stack : stacks)
    __atomic_store_n(&stack.owner, &stack == mine ? own_tid() : 0, __ATOMIC_RELEASE);
}

bool in_own_stack(std::uintptr_t address) { return address < beginning && beginning - address < kNear; }

}  // namespace lotus
