#include "trace_start.hpp"

#include <cstring>

namespace lotus::collector {

FileHeader make_file_header(const SegmentHeader& segment) {
  FileHeader header{};
  std::memcpy(header.magic, kTraceMagic, sizeof header.magic);
  header.version = kTraceVersion;
  header.header_bytes = sizeof(FileHeader);
  header.session_pid = segment.session_pid;
  header.clock_source = segment.clock_source;
  header.session_start_time = segment.session_start_time;
  header.created = segment.created;
  header.tick_shift = segment.tick_shift;
  return header;
}

}  // namespace lotus::collector
