#include "trace_start.hpp"

#include <fmt/format.h>

#include <cstring>
#include <lotus/events.hpp>

namespace lotus::collector {
namespace {

const char* shape_name(Shape shape) {
  switch (shape) {
    case Shape::enter:
      return "enter";
    case Shape::leave:
      return "leave";
    case Shape::point:
      return "point";
    case Shape::definition:
      return "definition";
  }
  return "unknown";
}

}  // namespace

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

std::string schema_text() {
  std::string text;
  for (const KindInfo& row : kKinds) {
    text += fmt::format("{} {} {}", row.code, shape_name(row.shape), row.name);
    if (!row.fields.empty()) text.append(" ").append(row.fields);
    text += '\n';
  }
  return text;
}

}  // namespace lotus::collector
