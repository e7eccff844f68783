// Scans the frame headers of a trace that an earlier collector wrote, so that it can be continued.
#pragma once

#include <cstdint>
#include <lotus/trace.hpp>
#include <map>
#include <unordered_map>
#include <vector>

#include "definition_frames.hpp"

namespace lotus::collector {

// Sequence of the last chunk that is in the file, by stream.
using LastSequences = std::unordered_map<std::uint32_t, std::uint64_t>;

struct ScannedProcess {
  ProcessFrame frame{};
  LastSequences sequences;
  std::uint64_t definitions_read = 0;  // end of the last definition frame, a position in the ring
  std::uint64_t snapshots_read = 0;    // the same of its samples, in the stack ring
  std::vector<DefinitionBody> definitions;
  std::uint64_t lost_events = 0;
  bool ended = false;
};

struct ScannedTrace {
  std::map<std::uint32_t, ScannedProcess> processes;  // by their number in the file
  std::vector<DefinitionBody> own_definitions;        // those of the collector, for all processes
  std::vector<IndexEntry> index;                      // without index and trailer frames
  std::uint64_t end = 0;            // behind the last frame to keep; index, trailer and half frames follow
  std::uint64_t damaged_bytes = 0;  // skipped between frames
};

// Scans the frames of an open trace file of `size` bytes. The file header was checked by the caller.
ScannedTrace scan_trace(int fd, std::uint64_t size, std::uint32_t header_bytes);

}  // namespace lotus::collector
