// The file of the trace, taken before anybody is told of it: what is announced is where the trace goes.
#pragma once

#include "system/files.hpp"

namespace lotus {

// Takes `path` for this session, by the header of a trace; the collector goes on behind it. It becomes
// <path>.1, <path>.2 … where another file is in the way: one that is no trace, or that a running program or a
// collector writes. A finished trace of another session is renamed to <path>.old. The same rules are the
// collector's, collector/output_file.hpp. Returns 0, or errno: nothing can be written there.
int take_output(char (&path)[kPathBytes], std::uint32_t session_pid, std::uint64_t session_start_time);

// Gives a file back that nobody has gone on with.
void give_back_output(const char* path, std::uint32_t session_pid, std::uint64_t session_start_time);

}  // namespace lotus
