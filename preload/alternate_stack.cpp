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

constinit std::uint8_t* memory = nullptr;  // of all of them
constinit std::uint32_t owners[kStacks] = {};
constinit thread_local std::uintptr_t beginning = 0;  // of this thread's own stack, which grows downwards

std::uint8_t* all_stacks() {
  std::uint8_t* known = __atomic_load_n(&memory, __ATOMIC_ACQUIRE);
  if (known != nullptr) return known;
  constexpr std::size_t kBytes = kStacks * kStackBytes;
  // The system call itself: the interposed mmap counts the program's files.
  const long made = syscall(SYS_mmap, nullptr, kBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0L);
  if (made == -1) return nullptr;
  auto* const fresh = reinterpret_cast<std::uint8_t*>(made);
  madvise(fresh, kBytes, MADV_NOHUGEPAGE);
  if (__atomic_compare_exchange_n(&memory, &known, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return fresh;
  munmap(fresh, kBytes);
  return known;
}

bool take(std::uint32_t& owner, std::uint32_t from, std::uint32_t to) {
  return __atomic_compare_exchange_n(&owner, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

// The number of a stack that is this thread's now; kStacks: all are in use.
std::uint32_t take_stack(std::uint32_t tid) {
  for (std::uint32_t i = 0; i < kStacks; ++i)
    if (take(owners[i], 0, tid) || __atomic_load_n(&owners[i], __ATOMIC_ACQUIRE) == tid) return i;
  for (std::uint32_t i = 0; i < kStacks; ++i) {
    const std::uint32_t owner = __atomic_load_n(&owners[i], __ATOMIC_ACQUIRE);
    if (thread_is_gone(owner) && take(owners[i], owner, tid)) return i;
  }
  return kStacks;
}

std::size_t number_of(const stack_t& stack) {
  return static_cast<std::size_t>(static_cast<std::uint8_t*>(stack.ss_sp) - memory) / kStackBytes;
}

bool current(stack_t& stack) { return syscall(SYS_sigaltstack, nullptr, &stack) == 0; }

}  // namespace

bool is_alternate_stack(const stack_t& stack) {
  const std::uint8_t* known = __atomic_load_n(&memory, __ATOMIC_ACQUIRE);
  const auto* at = static_cast<const std::uint8_t*>(stack.ss_sp);
  return known != nullptr && at >= known && at < known + kStacks * kStackBytes;
}

void use_alternate_stack(std::uintptr_t stack) {
  const int saved = errno;
  // Of the main thread the kernel says where its stack begins.
  if (beginning == 0)
    beginning = own_tid() == static_cast<std::uint32_t>(getpid()) ? getauxval(AT_RANDOM) : stack;
  stack_t now{};
  std::uint8_t* const stacks = all_stacks();
  if (stacks != nullptr && current(now) && (now.ss_flags & SS_DISABLE) != 0) {
    if (const std::uint32_t number = take_stack(own_tid()); number < kStacks) {
      std::uint8_t* const lowest = stacks + number * kStackBytes;
      mprotect(lowest, kGuardBytes, PROT_NONE);
      stack_t ours{};
      ours.ss_sp = lowest + kGuardBytes;
      ours.ss_size = kStackBytes - kGuardBytes;
      if (syscall(SYS_sigaltstack, &ours, nullptr) != 0)
        __atomic_store_n(&owners[number], 0, __ATOMIC_RELEASE);
    }
  }
  errno = saved;
}

void leave_alternate_stack() {
  const int saved = errno;
  stack_t now{};
  if (current(now) && is_alternate_stack(now)) {
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (syscall(SYS_sigaltstack, &none, nullptr) == 0)
      __atomic_store_n(&owners[number_of(now)], 0, __ATOMIC_RELEASE);
  }
  errno = saved;
}

void forget_alternate_stacks() {
  stack_t now{};
  const std::size_t mine = current(now) && is_alternate_stack(now) ? number_of(now) : kStacks;
  for (std::size_t i = 0; i < kStacks; ++i)
    __atomic_store_n(&owners[i], i == mine ? own_tid() : 0, __ATOMIC_RELEASE);
}

bool in_own_stack(std::uintptr_t address) { return address < beginning && beginning - address < kNear; }

}  // namespace lotus
