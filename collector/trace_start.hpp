// The start of a trace file.
#pragma once

#include <lotus/segment.hpp>
#include <lotus/trace.hpp>

namespace lotus::collector {

// The file header of the session that the segment belongs to.
FileHeader make_file_header(const SegmentHeader& segment);

}  // namespace lotus::collector
