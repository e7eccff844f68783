// Shared memory between a traced process (writer) and the collector (reader): one file per process.
//
//   page 0          SegmentHeader
//   slots_offset    slot_count × ThreadSlot, then slot_count × chunk_bytes of open chunks
//   rings[0]        definitions, rings[1] events, rings[2] stack snapshots (snapshot.hpp): each a
//                   RingHeader, then ring_bytes of records
//
// Contract
//  1. The writer creates the file exclusively, sizes it, fills it, and stores `ready` last (release). No page
//     is written before the file system has given memory for it: all at once (posix_fallocate), or where the
//     kernel can tell of a refusal (tmpfs, Linux 5.14), as it is needed; the rest of the file is a hole then.
//     Until `ready` is kReady the file is incomplete: its writer still fills it, or died. A process that
//     calls exec makes another file, whose name has `.1`, `.2` … behind the start time.
//  2. A thread slot has one writer, its thread. Bytes of the open chunk are written first, then
//     `used` is stored (release). A reader may take used bytes of a *dead* process only.
//  3. When a chunk is handed on: ring record committed, then `used` = 0 (release), then `sequence`
//     and `base_ticks` change. A reader drops an open chunk if it already got one with the same (stream,
//     sequence) from the ring.
//  4. A ring has many writers and one reader. A writer reserves by compare-and-swap on `head`, fills
//     the record, and commits by storing `commit` = commit_stamp(position) (release). The reader
//     stops at the first record that is not committed. Stamps differ from lap to lap, so nothing is
//     ever cleared. The writer whose record fills a quarter of the ring touches the file's times. This
//     wakes a reader that watches the directory, which so need not poll often.
//  5. Records lie at multiples of kRingAlign and never wrap: a pad record fills the end of a lap.
//  6. A full ring, or one that gets no memory, drops: the writer adds to `lost_events` and to the next
//     chunk's `lost_before`. Writers never wait.
//  7. The reader first reads the event ring's `head`, then the definitions, and writes these before the
//     events up to that head: in the file, a definition precedes its first use by the same process.
//  8. Both sides assume that the other one may overwrite anything: copy to locals, check bounds, then use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lotus/clock.hpp>
#include <lotus/compression.hpp>
#include <lotus/python_frames.hpp>

namespace lotus {

inline constexpr std::uint64_t kSegmentMagic = 0x31474553'53554f4c;  // "LOUSSEG1"
inline constexpr std::uint32_t kSegmentVersion = 5;
inline constexpr std::uint32_t kReady = 0x52454459;
inline constexpr std::uint32_t kRings = 3;
inline constexpr const char* kSegmentSuffix = ".segment";  // <pid>-<start time>[.<n>].segment, see 1
// Inode of the initial pid namespace. Other namespaces (containers) may share /dev/shm with it, but a
// collector cannot tell which of their processes are alive. So in other namespaces the names of the default
// directories end in `-<inode>`.
inline constexpr std::uint64_t kInitialPidNamespace = 0xEFFFFFFC;
// flock()ed by the serving collector. Its first line is the collector's pid with the kSegmentVersion
// (decimal) and the kSchemaHash (hexadecimal) of the segments that it reads.
inline constexpr const char* kCollectorLock = "collector.lock";

// A process's own record of its state. It distinguishes killed processes from those that ended by themselves.
enum class Life : std::uint64_t {
  unknown = 0,  // written by an earlier version of the library
  running = 1,
  leaving = 2,  // in exit() or _exit(), or about to call exec
};

// Whose loaders that are not PyTorch's a process's training has: bits.
enum OtherLoaders : std::uint32_t { kLoaderOfPackage = 1, kLoaderOfProgram = 2 };

struct SegmentHeader {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t ready;
  std::uint64_t schema_hash;  // kSchemaHash of the writer
  std::uint64_t segment_bytes;

  std::uint32_t pid, parent_pid;
  std::uint64_t start_time;     // /proc/<pid>/stat field 22: tells a reused pid apart
  std::uint64_t pid_namespace;  // inode of /proc/self/ns/pid, 0 unknown
  std::uint32_t session_pid;    // the process whose trace this is part of: itself, an ancestor or a launcher
  std::uint32_t finished;       // 1: recording has ended, and the process waits until the file is removed
  std::uint64_t session_start_time;

  ClockSource clock_source;
  std::uint32_t tick_shift;
  ClockPair created;

  std::uint32_t slot_count, chunk_bytes;
  std::uint64_t slots_offset, chunks_offset;
  std::uint64_t ring_offset[kRings];  // offsets of the RingHeaders
  std::uint64_t ring_bytes[kRings];   // size of the records behind each; a multiple of kRingAlign

  // From here to `life`: written by the traced process while it records.
  alignas(64) std::uint64_t lost_events;  // dropped, in total
  std::uint64_t lost_chunks;
  std::uint64_t lost_definitions;
  std::uint64_t dropped_spans;  // without a free slot, or nested too deeply
  std::uint64_t flush_ticks;  // time spent compressing chunks and taking snapshots, for the overhead estimate
  std::uint64_t off_reason;   // an OffReason, 0 while recording
  std::uint64_t lost_snapshots;  // dropped for lack of room in the ring
  std::uint64_t life;            // a Life

  alignas(64) std::uint64_t reader_beat_ns;  // CLOCK_MONOTONIC of the collector's last visit
  std::uint32_t reader_pid;
  std::uint32_t
      other_loaders;  // OtherLoaders, by the traced process: what it starts may make samples for them

  PythonFrames python;  // code_type is stored last (release)

  alignas(64) char program[256];  // base name of the script or module, NUL-terminated
  char output[2048];              // absolute path of the trace, NUL-terminated
};
static_assert(sizeof(SegmentHeader) <= 4096 && offsetof(SegmentHeader, lost_events) % 64 == 0);
static_assert(offsetof(SegmentHeader, reader_beat_ns) % 64 == 0);

struct alignas(64) ThreadSlot {
  std::uint32_t state;  // 0 free, 1 taken
  std::uint32_t tid;
  std::uint32_t stream;       // number of the thread among those that recorded, from 1; never reused
  std::uint32_t used;         // bytes in the open chunk
  std::uint64_t sequence;     // number of the open chunk in the stream, from 1
  std::uint64_t base_ticks;   // base time of the open chunk
  std::uint64_t lost_before;  // events dropped from this stream since its last chunk that reached the ring
  std::uint32_t events;       // records in the open chunk (may lag `used` by one)
  std::uint32_t reserved;
  std::uint64_t python_state;  // address of the thread's PyThreadState; 0: not known
};
static_assert(sizeof(ThreadSlot) == 64);

inline constexpr std::size_t kRingAlign = 64;
enum RingIndex : std::uint32_t { kDefinitionRing = 0, kEventRing = 1, kStackRing = 2 };

struct alignas(64) RingHeader {
  alignas(64) std::uint64_t head;  // bytes reserved so far, never wraps
  alignas(64) std::uint64_t tail;  // bytes that the reader has taken so far
};
static_assert(sizeof(RingHeader) == 128);

enum class RingKind : std::uint8_t { pad = 0, chunk = 1, snapshot = 2 };

struct alignas(64) RingRecord {
  std::uint64_t commit;        // commit_stamp(position) once the record is whole
  std::uint32_t bytes;         // size of the record with header and padding; a multiple of kRingAlign
  std::uint32_t stored_bytes;  // payload, behind this header
  std::uint32_t raw_bytes;     // payload after decompression
  RingKind kind;
  Codec codec;
  std::uint16_t reserved0;
  std::uint32_t stream;
  std::uint32_t events;
  std::uint64_t sequence;
  std::uint64_t base_ticks;
  std::uint64_t lost_before;
  std::uint64_t reserved1;
};
static_assert(sizeof(RingRecord) == 64 && sizeof(RingRecord) == kRingAlign);

constexpr std::uint64_t commit_stamp(std::uint64_t position) { return (position ^ 0x9e3779b97f4a7c15) | 1; }

// Why a process stopped recording (SegmentHeader::off_reason).
enum class OffReason : std::uint64_t { none = 0, span_stack = 1, iterator_table = 2, python_state = 3 };

}  // namespace lotus
