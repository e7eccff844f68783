#include "counters/event_page.hpp"

#include <sys/mman.h>

#include <lotus/clock.hpp>

#include "system/files.hpp"

namespace lotus {

std::uint64_t time_of_processor() { return read_counter(); }

#if defined(__x86_64__)
std::uint64_t counter_of_processor(std::uint32_t number) {
  std::uint32_t low = 0, high = 0;
  __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number));
  return std::uint64_t{high} << 32 | low;
}
#elif defined(__aarch64__)
// Event counters 0 to 30, and the one of cycles: each is a register with a name of its own.
std::uint64_t counter_of_processor(std::uint32_t number) {
  std::uint64_t value = 0;
  switch (number) {
#define LOTUS_COUNTER(n)                                          \
  case n:                                                         \
    __asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(value)); \
    break;
    LOTUS_COUNTER(0)
    LOTUS_COUNTER(1)
    LOTUS_COUNTER(2)
    LOTUS_COUNTER(3)
    LOTUS_COUNTER(4)
    LOTUS_COUNTER(5)
    LOTUS_COUNTER(6)
    LOTUS_COUNTER(7)
    LOTUS_COUNTER(8)
    LOTUS_COUNTER(9)
    LOTUS_COUNTER(10)
    LOTUS_COUNTER(11)
    LOTUS_COUNTER(12)
    LOTUS_COUNTER(13)
    LOTUS_COUNTER(14)
    LOTUS_COUNTER(15)
    LOTUS_COUNTER(16)
    LOTUS_COUNTER(17)
    LOTUS_COUNTER(18)
    LOTUS_COUNTER(19)
    LOTUS_COUNTER(20)
    LOTUS_COUNTER(21)
    LOTUS_COUNTER(22)
    LOTUS_COUNTER(23)
    LOTUS_COUNTER(24)
    LOTUS_COUNTER(25)
    LOTUS_COUNTER(26)
    LOTUS_COUNTER(27)
    LOTUS_COUNTER(28)
    LOTUS_COUNTER(29)
    LOTUS_COUNTER(30)
#undef LOTUS_COUNTER
    case 31:
      __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value));
      break;
    default:
      break;
  }
  return value;
}
#else
std::uint64_t counter_of_processor(std::uint32_t) { return 0; }
#endif

namespace {

// A copy of what the kernel may be writing.
template <class Value>
Value now_of(const Value& value) {
  return __atomic_load_n(&value, __ATOMIC_RELAXED);
}

// How long ago the kernel wrote the page's times, ns.
std::uint64_t since_written(const EventPage& page, std::uint64_t capabilities, std::uint64_t time) {
  if ((capabilities & kTimeIsShort) != 0) {
    const std::uint64_t from = now_of(page.time_cycles);
    time = from + ((time - from) & now_of(page.time_mask));
  }
  const std::uint16_t shift = now_of(page.time_shift) & 63;
  const std::uint64_t mult = now_of(page.time_mult);
  const std::uint64_t rest = time & ((std::uint64_t{1} << shift) - 1);
  return now_of(page.time_offset) + (time >> shift) * mult + (rest * mult >> shift);
}

// The counter is narrower than 64 bits, and the offset is such that it is taken as a signed number.
std::uint64_t sign_extended(std::uint64_t value, std::uint16_t width) {
  if (width == 0 || width >= 64) return value;
  const unsigned unused = 64u - width;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}

bool read_once(const EventPage& page, const ProcessorCounters& processor, PageRead& read) {
  const std::uint64_t capabilities = now_of(page.capabilities);
  if ((capabilities & kMayReadCounter) == 0) return false;
  read.enabled = now_of(page.time_enabled);
  read.running = now_of(page.time_running);
  const std::uint32_t index = now_of(page.index);
  if ((capabilities & kMayReadTime) != 0) {
    const std::uint64_t since = since_written(page, capabilities, processor.time());
    read.enabled += since;
    if (index != 0) read.running += since;
  } else if (read.enabled != read.running) {
    return false;  // it is on in turns, and how long this turn has lasted is not known
  }
  read.value = static_cast<std::uint64_t>(now_of(page.offset));
  if (index != 0) read.value += sign_extended(processor.counter(index - 1), now_of(page.pmc_width));
  return true;
}

}  // namespace

bool read_page(const EventPage& page, const ProcessorCounters& processor, PageRead& read) {
  // The kernel writes where the thread leaves or enters a core: not twice within so few instructions.
  constexpr int kMostTries = 8;
  for (int i = 0; i < kMostTries; ++i) {
    const std::uint32_t before = __atomic_load_n(&page.lock, __ATOMIC_ACQUIRE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!read_once(page, processor, read)) return false;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&page.lock, __ATOMIC_RELAXED) == before) return true;
  }
  return false;
}

bool pages_are_of_use() {
#if defined(__x86_64__)
  return true;
#elif defined(__aarch64__)
  // Documentation/admin-guide/sysctl/kernel.rst in Linux: off by default, and not there before 5.17.
  char text[8] = {};
  read_file("/proc/sys/kernel/perf_user_access", text, sizeof text);
  return text[0] == '1';
#else
  return false;
#endif
}

std::uint64_t config_for_pages() {
#if defined(__aarch64__)
  return pages_are_of_use() ? 2 : 0;  // the second bit asks for it (drivers/perf/arm_pmuv3.c: rdpmc)
#else
  return 0;
#endif
}

std::uint32_t StillHere::begin(std::uint32_t pid) {
  constexpr int kWipeOnFork = 18;  // MADV_WIPEONFORK, since Linux 4.14
  constexpr std::size_t kBytes = 4096;
  if (mark_ == nullptr && !refused_) {
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    refused_ = memory == MAP_FAILED || madvise(memory, kBytes, kWipeOnFork) != 0;
    if (!refused_) mark_ = static_cast<std::uint32_t*>(memory);
    if (refused_ && memory != MAP_FAILED) munmap(memory, kBytes);
  }
  if (mark_ == nullptr) return 0;
  *mark_ = pid;
  return pid;
}

}  // namespace lotus
