// Finds the output file of a session's trace, and opens or continues it. Never overwrites a file that belongs
// to something else.
#pragma once

#include <lotus/trace.hpp>
#include <memory>
#include <optional>
#include <string>

#include "log.hpp"
#include "trace_file.hpp"
#include "trace_scan.hpp"

namespace lotus::collector {

struct OpenedOutput {
  std::unique_ptr<TraceFile> file;        // nullptr: could not be opened
  std::optional<ScannedTrace> continued;  // what an earlier collector wrote for the same session
  int error = 0;                          // errno of the failure
};

// Opens `path` for the session that `identity` names:
//   nothing there, or an empty file     a new trace
//   a header of the same session alone  a new trace: the program took the name (preload/life/output_file.hpp)
//   a trace of the same session         continued: index, trailer and half frames at its end are cut off
//   a finished trace of another session renamed to <path>.old first
//   any other file, or one in use       not touched: <path>.1, <path>.2 … is taken
// A new trace's file header is in the batch of the returned file, not yet written, unless it was there.
OpenedOutput open_output(const std::string& path, const FileHeader& identity, Log& log);

}  // namespace lotus::collector
