#include "recorder.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "alternate_stack.hpp"
#include "autostart.hpp"
#include "config.hpp"
#include "describe.hpp"
#include "hot.hpp"
#include "native/hooks.hpp"
#include "sampler.hpp"
#include "session.hpp"
#include "thread_id.hpp"
#include "uncancelled.hpp"

namespace lotus {

constinit thread_local Local local{};
LOTUS_HOT constinit Process process{};

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
constinit std::uint32_t next_stream = 1;

constexpr std::uint64_t kFlushAfterSeconds = 1;
constexpr std::uint64_t kRestsPerFlush = 100;  // at most: epochs may be tiny, as those of nested loaders
constinit std::uint64_t flush_after_ticks = 0;

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

// False: there was no room.
bool put(RingWriter& ring, const RingRecord& record, const void* payload) {
  const RingWriter::Room room = ring.push(record, payload);
  if (room.call) call_collector(process.segment);
  return room.payload != nullptr;
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
  return put(process.segment.events, record, packed != 0 ? workspace.compressed : thread.chunk);
}

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

void count_lost(ThreadSlot& slot) {
  SegmentHeader& header = *process.segment.header;
  slot.lost_before += slot.events;
  __atomic_fetch_add(&header.lost_events, slot.events, __ATOMIC_RELAXED);
  __atomic_fetch_add(&header.lost_chunks, 1, __ATOMIC_RELAXED);
}

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
    if (slot.used > 0 && !hand_on(threads[i], slot.used)) count_lost(slot);
    slot.lost_before = 0;
    return static_cast<int>(i);
  }
  return -1;
}

Thread* open_thread() {
  const std::uint32_t tid = own_tid();
  if (sampler_wanted) use_alternate_stack(reinterpret_cast<std::uintptr_t>(&tid));
  const int index = claim_slot(tid);
  if (index < 0) {
    local.refused = true;
    return nullptr;
  }
  ThreadSlot& slot = process.segment.slots[index];
  Thread& thread = threads[index];
  std::memset(&thread, 0, sizeof thread);
  thread.slot = &slot;
  thread.chunk = process.segment.chunk_of(static_cast<std::uint32_t>(index));
  thread.limit = thread.chunk + process.segment.header->chunk_bytes - kRecordRoom;
  thread.last = ticks_now();
  __atomic_store_n(&slot.used, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&slot.tid, tid, __ATOMIC_RELEASE);
  slot.stream = __atomic_fetch_add(&next_stream, 1, __ATOMIC_RELAXED);
  slot.sequence = 0;
  start_chunk(thread);
  local.thread = &thread;
  local.generation = process.generation;
  char name[17] = {};
  prctl(PR_GET_NAME, name, 0, 0, 0);
  define<Kind::thread>(slot.stream, tid, std::string_view(name));
  return &thread;
}

// A process that multiprocessing started: spawn's children, the fork server, the resource tracker.
bool is_helper_process() {
  char arguments[1024];
  const std::size_t size = read_file("/proc/self/cmdline", arguments, sizeof arguments);
  return memmem(arguments, size, "multiprocessing", 15) != nullptr;
}

void announce(Collector collector) {
  if (!session.first) return;
  const char* hint = "";
  if (!config.autostart)
    hint = " (when `lotus-collector --drain` is run)";
  else if (collector == Collector::absent)
    hint = " (when `lotus-collector` is run: none stands beside liblotus.so)";
  else if (collector == Collector::failed)
    hint = " (when `lotus-collector` is run: it could not be started from here)";
  char line[kPathBytes + 1024];
  std::snprintf(line, sizeof line, "tracing to %s%s%s%s%s%s", session.output, hint,
                session.remark[0] != '\0' ? "; " : "", session.remark,
                config.complaint[0] != '\0' ? "; " : "", config.complaint);
  say(line);
}

// Once per process, at its first event.
bool open_process() {
  if (!find_session()) {
    switch_off(OffReason::none, session.remark);
    return false;
  }
  char reason[256];
  if (!make_segment(process.segment, reason)) {
    switch_off(OffReason::none, reason);
    return false;
  }
  process.pid = getpid();
  next_stream = 1;
  flush_after_ticks = ticks_per_second() * kFlushAfterSeconds;
  announce(config.autostart ? ensure_collector() : Collector::serving);
  return true;
}

}  // namespace

Thread* acquire_thread() {
  if (process.off) return nullptr;
  if (local.generation == process.generation && local.refused) {
    detail::drop_span();
    return nullptr;
  }
  const int saved = errno;
  const Uncancelled uncancelled;
  local = Local{};
  local.generation = process.generation;
  Thread* thread = nullptr;
  const bool opening = process.segment.header == nullptr;
  if (!opening || open_process()) thread = open_thread();
  if (opening && thread != nullptr) {
    describe_process();
    start_sampler();
  }
  errno = saved;
  return thread;
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
  check_collector();
  errno = saved;
  __atomic_fetch_add(&process.segment.header->flush_ticks, ticks_now() - begin, __ATOMIC_RELAXED);
}

void end_batch(Thread& thread) {
  poll_sampler(ticks_now());
  if (thread.last - thread.chunk_start > flush_after_ticks) flush(thread);
}

void rest(Thread& thread) {
  const std::uint64_t now = ticks_now();
  poll_sampler(now);
  if (thread.slot->events > 0 && now - thread.chunk_start > flush_after_ticks / kRestsPerFlush) flush(thread);
}

void switch_off(OffReason reason, const char* line) {
  process.off = true;
  if (process.segment.header != nullptr)
    process.segment.header->off_reason = static_cast<std::uint64_t>(reason);
  char text[700];
  std::snprintf(text, sizeof text, "not tracing process %d: %.600s", getpid(), line);
  // One line per process tree: what the first process said, or will say, its helpers do not repeat.
  if ((session.known && !session.first) || is_helper_process())
    note(text);
  else
    say(text);
}

std::uint64_t measure_pair_ps() {
  constexpr std::uint64_t kPairs = 1000;
  static constinit std::uint8_t scratch[kPairs * 16 + kRecordRoom] = {};
  static constinit ThreadSlot slot{};
  static constinit Thread thread{};
  thread.slot = &slot;
  thread.chunk = thread.cursor = scratch;
  thread.limit = scratch + kPairs * 16;
  thread.last = ticks_now();
  Thread* const mine = local.thread;
  local.thread = &thread;
  const std::uint64_t begin = clock_ns(CLOCK_MONOTONIC);
  for (std::uint64_t i = 0; i < kPairs; ++i) leave(enter<Kind::op>(std::uint32_t{1}), Kind::leave);
  const std::uint64_t elapsed_ns = clock_ns(CLOCK_MONOTONIC) - begin;
  local.thread = mine;
  return elapsed_ns * 1000 / kPairs;
}

void forget_parent() {
  ++process.generation;
  process.worker = false;
  forget_sampler();
  forget_hooks();
  session.root = session.first = false;
  forget_segment(process.segment);
  local = Local{};
}

void detail::drop_span() {
  if (process.segment.header != nullptr)
    __atomic_fetch_add(&process.segment.header->dropped_spans, 1, __ATOMIC_RELAXED);
}

void close_at(const Span& span, Kind kind, std::uint64_t now) {
  // The parent's span seen from a forked child, or a thread that lost its recorder: not ours to close.
  if (span.generation != process.generation || process.off || local.thread == nullptr) return;
  Thread& thread = *local.thread;
  if (thread.depth <= span.depth) return;
  while (thread.depth > span.depth + 1) {
    write_native(thread, now);
    detail::make_room(thread);
    --thread.depth;
    detail::append<Kind::leave_lost>(thread, now);
  }
  write_native(thread, now);
  detail::make_room(thread);
  const auto& open = thread.spans[--thread.depth];
  if (open.cpu_measured) [[unlikely]] {
    const std::uint64_t used = cpu_ns();
    detail::append<Kind::cpu>(thread, now, used - open.cpu_start);
  }
  switch (kind) {
    case Kind::leave_error:
      detail::append<Kind::leave_error>(thread, now);
      break;
    case Kind::leave_empty:
      detail::append<Kind::leave_empty>(thread, now);
      break;
    default:
      detail::append<Kind::leave>(thread, now);
      break;
  }
}

void measure_cpu(const Span& span, std::uint64_t start) {
  if (span.depth == Span::kNone || local.thread == nullptr || local.thread->depth != span.depth + 1) return;
  auto& open = local.thread->spans[span.depth];
  open.cpu_measured = true;
  open.cpu_start = start;
}

void mark_entry(const Span& span, std::uintptr_t entry) {
  if (span.depth == Span::kNone || local.thread == nullptr || local.thread->depth != span.depth + 1) return;
  local.thread->spans[span.depth].entry = entry;
}

OpenOperation innermost_operation(const Thread& thread) {
  for (std::uint32_t depth = __atomic_load_n(&thread.depth, __ATOMIC_ACQUIRE); depth-- > 0;)
    if (thread.spans[depth].kind == Kind::op)
      return {static_cast<std::uint32_t>(field<Kind::op, "def">(thread.spans[depth].fields)),
              thread.spans[depth].entry};
  return {};
}

std::uint32_t only_open_operation() {
  std::uint32_t found = 0;
  const std::uint32_t slots = process.segment.header->slot_count;
  for (std::uint32_t i = 0; i < slots && i < kMaxSlots; ++i) {
    const std::uint32_t open = innermost_operation(threads[i]).definition;
    if (open != 0 && found != 0) return 0;
    if (open != 0) found = open;
  }
  return found;
}

namespace {

void append_path(Thread* thread, std::uint64_t now, const char* path, std::size_t bytes) {
  if (bytes > kMaxPath) bytes = kMaxPath;
  detail::make_room(*thread);
  std::uint32_t shared = 0;
  while (shared < bytes && shared < thread->path_bytes && thread->path[shared] == path[shared]) ++shared;
  detail::append<Kind::path>(*thread, now, shared, std::string_view(path + shared, bytes - shared));
  std::memcpy(thread->path, path, bytes);
  thread->path_bytes = static_cast<std::uint32_t>(bytes);
}

}  // namespace

void record_path(const char* path, std::size_t bytes) {
  Thread* thread = current_thread();
  if (thread != nullptr) append_path(thread, ticks_now(), path, bytes);
}

void record_opened(Thread& thread, std::uint64_t now) {
  const std::uint32_t bytes = thread.opened_bytes;
  thread.opened_bytes = 0;
  append_path(&thread, now, thread.opened, bytes);
}

bool detail::send_definition(const std::uint8_t* bytes, std::size_t size, std::uint64_t now) {
  RingRecord record{};
  record.kind = RingKind::chunk;
  record.codec = Codec::raw;
  record.events = 1;
  record.base_ticks = now;
  record.raw_bytes = record.stored_bytes = static_cast<std::uint32_t>(size);
  if (put(process.segment.definitions, record, bytes)) return true;
  __atomic_fetch_add(&process.segment.header->lost_definitions, 1, __ATOMIC_RELAXED);
  return false;
}

}  // namespace lotus
