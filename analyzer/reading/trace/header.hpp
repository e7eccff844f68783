// The first 64 bytes of a trace.
#pragma once

#include <lotus/trace.hpp>

#include "reading/trace/source.hpp"

namespace lotus::analyzer {

// Reads and checks the file header; throws Unusable with a message of its own for each way to be wrong.
FileHeader read_file_header(const Source& source);

}  // namespace lotus::analyzer
