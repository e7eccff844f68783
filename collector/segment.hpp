// A segment file that was checked and is mapped.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <lotus/segment.hpp>
#include <memory>
#include <string>

#include "directory.hpp"
#include "guarded_mapping.hpp"
#include "ring_cursor.hpp"
#include "segment_check.hpp"

namespace lotus::collector {

// Identifies a file by more than its name, since another file may take over the name.
struct SegmentFile {
  std::shared_ptr<const Directory> directory;
  std::string name;
  dev_t device = 0;
  ino_t inode = 0;

  std::string path() const { return directory->path() + "/" + name; }
  // Deletes the file, if the name still belongs to it.
  void remove() const;
};

// The counters of the traced process.
struct SegmentCounters {
  std::uint64_t lost_events = 0, lost_chunks = 0, lost_definitions = 0, dropped_spans = 0;
  std::uint64_t flush_ticks = 0, off_reason = 0;
  std::uint64_t lost_snapshots = 0;
  Life life = Life::unknown;
};

class Segment {
 public:
  Segment(SegmentFile file, std::unique_ptr<GuardedMapping> mapping, const SegmentHeader& checked);

  const SegmentFile& file() const { return file_; }
  // The header as it was when it was checked: layout and identity. Never reread from the mapping.
  const SegmentHeader& header() const { return *header_; }
  // The file was truncated: reads from it give zeros.
  bool torn() const { return mapping_->torn(); }

  RingCursor ring(RingIndex index) const;
  // Copies of fields that the traced process may change at any time.
  ThreadSlot slot(std::uint32_t index) const;
  SegmentCounters counters() const;
  PythonFrames python() const;
  // The open chunk of a slot: header().chunk_bytes bytes in shared memory.
  const std::uint8_t* chunk(std::uint32_t index) const;

  // Tells the traced process that a collector reads its segment. `now_ns`: CLOCK_MONOTONIC.
  void beat(std::uint64_t now_ns) const;
  // The process records no more.
  bool finished() const;

 private:
  SegmentHeader* shared() const { return reinterpret_cast<SegmentHeader*>(mapping_->data()); }

  SegmentFile file_;
  std::unique_ptr<GuardedMapping> mapping_;
  std::unique_ptr<const SegmentHeader> header_;
};

struct OpenedSegment {
  SegmentVerdict verdict;
  std::unique_ptr<Segment> segment;  // only if the verdict is good
  int error = 0;                     // errno if the file could not be opened or mapped for now
};

// Opens `name` in `directory`: a regular file of this user, mode 0600, without other links. `pid_namespace`:
// the collector's.
OpenedSegment open_segment(const std::shared_ptr<const Directory>& directory, const std::string& name,
                           std::uint64_t pid_namespace);

}  // namespace lotus::collector
