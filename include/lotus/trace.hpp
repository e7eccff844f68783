// The trace file: a file header, then frames. Grammar and versions: FORMAT.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lotus/clock.hpp>
#include <lotus/compression.hpp>

namespace lotus {

inline constexpr char kTraceMagic[8] = {'L', 'O', 'T', 'U', 'S', '\r', '\n', '\x1a'};
inline constexpr std::uint32_t kTraceVersion = 1;
inline constexpr const char* kTraceSuffix = ".lotus";

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;  // where the first frame begins
  std::uint32_t session_pid;
  ClockSource clock_source;
  std::uint64_t session_start_time;
  ClockPair created;
  std::uint32_t tick_shift;
  std::uint32_t reserved0;
  std::uint64_t reserved1;
};
static_assert(sizeof(FileHeader) == 64);

// A file that is a header alone, written within the last minute: a program has taken its name, and its
// collector goes on behind the header. Times in seconds since 1970.
constexpr bool is_reserved(std::uint64_t bytes, std::int64_t written, std::int64_t now) {
  return bytes == sizeof(FileHeader) && now - written < 60;
}

inline constexpr std::uint32_t kFrameMagic = 0x4d52464c;  // "LFRM"

enum class FrameType : std::uint8_t {
  schema = 1,       // text: schema_text.hpp
  process = 2,      // ProcessFrame: a traced process was found
  definitions = 3,  // records of shape `definition`
  chunk = 4,        // records of one thread
  clock = 5,        // ClockPair, taken by the collector
  process_end = 6,  // ProcessEndFrame: a traced process is gone and its segment is read out
  index = 7,        // IndexEntry*, one per frame before it
  trailer = 8,      // TrailerFrame: the last frame of a file that was closed
  samples = 9,      // stack_sample and off_cpu records of one process
  open_chunk = 10,  // of a chunk that its thread has not handed on for seconds, what is in it so far
};

struct FrameHeader {
  std::uint32_t magic;
  FrameType type;
  Codec codec;
  std::uint16_t flags;         // kSalvaged, kLeft, kKilled
  std::uint32_t stored_bytes;  // payload in the file
  std::uint32_t raw_bytes;     // payload after decompression; at most kMaxRawFrame
  std::uint32_t process;       // numbers the processes of a trace, from 1; 0: the whole trace
  std::uint32_t stream;
  std::uint64_t sequence;
  std::uint64_t base_ticks;
  std::uint64_t lost_before;
  std::uint32_t events;
  std::uint32_t check;  // frame_check() of this header
};
static_assert(sizeof(FrameHeader) == 56);

inline constexpr std::uint16_t kSalvaged = 1;  // chunk: open when its process ended
// process_end: kLeft, the process ended by exit(), _exit() or exec, or Python had ended (Ctrl-C); kKilled, by
// a signal. Neither: not known.
inline constexpr std::uint16_t kLeft = 2;
inline constexpr std::uint16_t kKilled = 4;
inline constexpr std::uint32_t kMaxRawFrame = 1u << 26;  // index frames of large traces are split

// The header of a frame of `process` (0: the whole trace). The caller fills in the rest, `check` last.
constexpr FrameHeader frame_header(FrameType type, std::uint32_t process) {
  FrameHeader header{};
  header.magic = kFrameMagic;
  header.type = type;
  header.process = process;
  return header;
}

// FNV-1a over the header with `check` = 0. Payloads carry zstd's own checksum.
constexpr std::uint32_t fnv1a(const unsigned char* bytes, std::size_t size) {
  std::uint32_t hash = 0x811c9dc5;
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x01000193;
  return hash;
}
inline std::uint32_t frame_check(FrameHeader header) {
  header.check = 0;
  return fnv1a(reinterpret_cast<const unsigned char*>(&header), sizeof header);
}

struct ProcessFrame {
  std::uint32_t pid, parent_pid;
  std::uint64_t start_time;
  ClockPair created;
};
static_assert(sizeof(ProcessFrame) == 32);

struct ProcessEndFrame {
  ClockPair seen;  // when the collector found it gone
  std::uint64_t lost_events, lost_chunks, lost_definitions, dropped_spans;
  std::uint64_t flush_ticks;
  std::uint64_t off_reason;
  std::uint32_t damaged;  // segment records that were unusable
  std::uint32_t lost_snapshots;
};
static_assert(sizeof(ProcessEndFrame) == 72);

struct IndexEntry {
  std::uint64_t offset;  // of the frame's header in the file
  std::uint64_t base_ticks;
  std::uint32_t process, stream;
  std::uint32_t events;
  FrameType type;
  std::uint8_t reserved[3];
};
static_assert(sizeof(IndexEntry) == 32);

struct TrailerFrame {
  std::uint64_t index_offset;  // of the first index frame's header
  std::uint64_t index_frames;
  std::uint64_t events, lost_events;
  ClockPair closed;
  std::uint32_t processes;
  std::uint32_t interrupted;  // 1: the collector was told to end while processes still ran
};
static_assert(sizeof(TrailerFrame) == 56);

}  // namespace lotus
