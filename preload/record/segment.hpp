// This process's segment: made at its first recorded event, mapped, its descriptor closed at once.
#pragma once

#include <lotus/ring.hpp>
#include <lotus/segment.hpp>

#include "system/files.hpp"

namespace lotus {

struct Segment {
  SegmentHeader* header = nullptr;
  ThreadSlot* slots = nullptr;
  std::uint8_t* chunks = nullptr;
  std::uint64_t bytes = 0;  // mapped
  char path[kPathBytes] = {};
  bool sparse = false;  // has memory only for what was populated
  RingWriter definitions, events, snapshots;

  std::uint8_t* chunk_of(std::uint32_t slot) const {
    return chunks + std::size_t{slot} * header->chunk_bytes;
  }
};

// Makes a slot's chunk writable. False: the file system is full.
bool populate_chunk(const Segment& segment, std::uint32_t slot);

inline constexpr std::uint32_t kMaxSlots = 16;
inline constexpr std::uint32_t kMaxChunkBytes = 32 * 1024;

// `<directory>/<pid>-<start time>[.<number>].segment`; without number for 0.
void segment_path(char (&path)[kPathBytes], const char* directory, std::uint32_t pid,
                  std::uint64_t start_time, unsigned number = 0);

// Whose segment it is, and where it goes: what session.hpp finds out.
struct SegmentOwner {
  const char* directory;
  std::uint32_t session_pid;
  std::uint64_t session_start_time;
  const char (&program)[sizeof(SegmentHeader::program)];
  const char (&output)[kPathBytes];
};

enum class Made : std::uint8_t { yes, no_room, no };

// Makes and maps the segment of this process in the owner's directory. Where it cannot be had (a full file
// system, no permission), `reason`, of at least 256 bytes, says why.
Made make_segment(Segment& segment, const SegmentOwner& owner, char* reason);

// Wakes the collector, which sleeps longer where it expects little. Async-signal-safe; a system call, 1 µs.
void call_collector(const Segment& segment);

// In a forked child: lets go of the parent's segment without touching its contents.
void forget_segment(Segment& segment);

}  // namespace lotus
