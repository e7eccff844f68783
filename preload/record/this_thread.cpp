#include "record/this_thread.hpp"

#include <sys/prctl.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "record/definition_ring.hpp"
#include "system/alternate_stack.hpp"
#include "system/clock.hpp"
#include "system/thread_id.hpp"
#include "system/uncancelled.hpp"

namespace lotus {

constinit thread_local ThisThread this_thread{};

namespace {

// A free slot, or that of a thread that ended: threads run no destructor of ours, so their last chunk is
// handed on by the one that inherits the slot.
int claim_slot(std::uint32_t tid) {
  const SegmentHeader& header = *process.segment.header;
  for (std::uint32_t i = 0; i < header.slot_count; ++i) {
    ThreadSlot& slot = process.segment.slots[i];
    std::uint32_t expected = 0;
    if (__atomic_compare_exchange_n(&slot.state, &expected, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return static_cast<int>(i);
  }
  for (std::uint32_t i = 0; i < header.slot_count; ++i) {
    ThreadSlot& slot = process.segment.slots[i];
    const std::uint32_t owner = __atomic_load_n(&slot.tid, __ATOMIC_ACQUIRE);
    if (owner != tid && !thread_is_gone(owner)) continue;
    std::uint32_t expected = owner;
    if (!__atomic_compare_exchange_n(&slot.tid, &expected, tid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      continue;
    flush_abandoned(i);
    slot.lost_before = 0;
    return static_cast<int>(i);
  }
  return -1;
}

Thread* open_thread() {
  const std::uint32_t tid = own_tid();
  use_alternate_stack(reinterpret_cast<std::uintptr_t>(&tid));
  const int index = claim_slot(tid);
  if (index < 0 || !populate_chunk(process.segment, static_cast<std::uint32_t>(index))) {
    if (index >= 0) __atomic_store_n(&process.segment.slots[index].state, 0, __ATOMIC_RELEASE);
    this_thread.refused = true;
    return nullptr;
  }
  ThreadSlot& slot = process.segment.slots[index];
  Thread& thread = thread_of(static_cast<std::uint32_t>(index));
  std::memset(&thread, 0, sizeof thread);
  thread.slot = &slot;
  thread.chunk = process.segment.chunk_of(static_cast<std::uint32_t>(index));
  thread.limit = thread.chunk + process.segment.header->chunk_bytes - kRecordRoom;
  thread.last = ticks_now();
  __atomic_store_n(&slot.used, 0, __ATOMIC_RELEASE);
  slot.python_state = 0;
  __atomic_store_n(&slot.tid, tid, __ATOMIC_RELEASE);
  slot.stream = __atomic_fetch_add(&process.next_stream, 1, __ATOMIC_RELAXED);
  slot.sequence = 0;
  start_chunk(thread);
  this_thread.recorder = &thread;
  this_thread.generation = process.generation;
  char name[17] = {};
  prctl(PR_GET_NAME, name, 0, 0, 0);
  send<Kind::thread>(slot.stream, tid, std::string_view(name));
  return &thread;
}

}  // namespace

Thread* acquire_thread() {
  if (process.off) return nullptr;
  if (this_thread.generation == process.generation && this_thread.refused) {
    detail::drop_span();
    return nullptr;
  }
  const int saved = errno;
  const Uncancelled uncancelled;
  this_thread = ThisThread{};
  this_thread.generation = process.generation;
  Thread* thread = nullptr;
  const bool opening = process.segment.header == nullptr;
  if (!opening || lifecycle.begin()) thread = open_thread();
  if (opening && thread != nullptr) lifecycle.begun();
  errno = saved;
  return thread;
}

void detail::drop_span() {
  if (process.segment.header != nullptr)
    __atomic_fetch_add(&process.segment.header->dropped_spans, 1, __ATOMIC_RELAXED);
}

}  // namespace lotus
