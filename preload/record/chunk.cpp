#include "record/chunk.hpp"

#include <cerrno>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "record/definition_ring.hpp"
#include "system/clock.hpp"

namespace lotus {
namespace {

constexpr int kLevel = 1;
// A table of 8 KiB instead of 32: of 32 KiB of records it finds as much, and each chunk fetches it anew.
constexpr int kHashLog = 11;
// ZSTD_estimateCCtxSize_usingCParams() of level 1 for 32 KiB gives 181,144 with libzstd 1.5.4.
constexpr std::size_t kWorkspaceBytes = 224 * 1024;
constexpr std::size_t kCompressedBytes = ZSTD_COMPRESSBOUND(kMaxChunkBytes);

// One per slot; pages are touched only by threads that record.
struct Workspace {
  alignas(64) std::uint8_t memory[kWorkspaceBytes];
  std::uint8_t compressed[kCompressedBytes];
  ZSTD_CCtx* context;
};
constinit Thread threads[kMaxSlots] = {};
constinit Workspace workspaces[kMaxSlots] = {};

constexpr std::uint64_t kRestsPerFlush = 100;  // at most: epochs may be tiny, as those of nested loaders

ZSTD_CCtx* make_context(Workspace& workspace) {
  ZSTD_CCtx* context = ZSTD_initStaticCCtx(workspace.memory, sizeof workspace.memory);
  if (context == nullptr) return nullptr;
  const ZSTD_compressionParameters sizes = ZSTD_getCParams(kLevel, kMaxChunkBytes, 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, static_cast<int>(sizes.windowLog));
  ZSTD_CCtx_setParameter(context, ZSTD_c_hashLog, kHashLog);
  ZSTD_CCtx_setParameter(context, ZSTD_c_chainLog, static_cast<int>(sizes.chainLog));
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  return context;
}

// Compresses `size` bytes into the slot's workspace; the result's size, 0 if zstd refused.
std::size_t compress(Workspace& workspace, const std::uint8_t* bytes, std::size_t size) {
  if (workspace.context == nullptr) workspace.context = make_context(workspace);
  if (workspace.context == nullptr) return 0;
  const std::size_t result =
      ZSTD_compress2(workspace.context, workspace.compressed, sizeof workspace.compressed, bytes, size);
  return ZSTD_isError(result) ? 0 : result;
}

bool hand_on(const Thread& thread, std::uint32_t used) {
  const ThreadSlot& slot = *thread.slot;
  auto& workspace = workspaces[&thread - threads];
  RingRecord record{};
  record.kind = RingKind::chunk;
  record.stream = slot.stream;
  record.sequence = slot.sequence;
  record.base_ticks = slot.base_ticks;
  record.lost_before = slot.lost_before;
  record.events = slot.events;
  record.raw_bytes = used;
  const std::size_t packed = compress(workspace, thread.chunk, used);
  record.codec = packed != 0 ? Codec::zstd : Codec::raw;
  record.stored_bytes = packed != 0 ? static_cast<std::uint32_t>(packed) : used;
  return put_record(process.segment.events, record, packed != 0 ? workspace.compressed : thread.chunk);
}

void count_lost(ThreadSlot& slot) {
  SegmentHeader& header = *process.segment.header;
  slot.lost_before += slot.events;
  __atomic_fetch_add(&header.lost_events, slot.events, __ATOMIC_RELAXED);
  __atomic_fetch_add(&header.lost_chunks, 1, __ATOMIC_RELAXED);
}

}  // namespace

Thread& thread_of(std::uint32_t slot) { return threads[slot]; }

void start_chunk(Thread& thread) {
  ThreadSlot& slot = *thread.slot;
  __atomic_store_n(&slot.used, 0, __ATOMIC_RELEASE);
  ++slot.sequence;
  slot.base_ticks = thread.last;
  thread.cursor = thread.chunk;
  thread.chunk_start = thread.last;
  thread.path_bytes = 0;
  for (std::uint32_t i = 0; i < thread.depth; ++i) {
    const auto& open = thread.spans[i];
    detail::append<Kind::open>(thread, thread.last, static_cast<std::uint64_t>(open.kind), open.fields[0],
                               open.fields[1], open.fields[2], thread.last - open.start);
  }
  slot.events = 0;  // what repeats is not counted
}

void begin_earlier(Thread& thread, std::uint64_t ticks) {
  ThreadSlot& slot = *thread.slot;
  if (slot.events != 0 || slot.used != 0 || thread.depth != 0 || ticks >= thread.last) return;
  thread.last = thread.chunk_start = ticks;
  slot.base_ticks = ticks;
}

void flush(Thread& thread) {
  const std::uint64_t begin = ticks_now();
  const int saved = errno;
  ThreadSlot& slot = *thread.slot;
  if (hand_on(thread, slot.used))
    slot.lost_before = 0;
  else
    count_lost(slot);
  start_chunk(thread);
  lifecycle.flushed();
  errno = saved;
  __atomic_fetch_add(&process.segment.header->flush_ticks, ticks_now() - begin, __ATOMIC_RELAXED);
}

void flush_abandoned(std::uint32_t slot) {
  ThreadSlot& left = process.segment.slots[slot];
  if (left.used > 0 && !hand_on(threads[slot], left.used)) count_lost(left);
}

void flush_old(Thread& thread) {
  if (thread.last - thread.chunk_start > process.flush_after_ticks) flush(thread);
}

void flush_at_rest(Thread& thread, std::uint64_t now) {
  if (thread.slot->events > 0 && now - thread.chunk_start > process.flush_after_ticks / kRestsPerFlush)
    flush(thread);
}

}  // namespace lotus
