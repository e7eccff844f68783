// What a trace file begins with.
#pragma once

#include <lotus/trace.hpp>
#include <string>

namespace lotus::collector {

// The file header of the session that the segment belongs to.
FileHeader make_file_header(const SegmentHeader& segment);

// The body of the schema frame: the record kinds of lotus/events.hpp, a line each.
std::string schema_text();

}  // namespace lotus::collector
