// Options from the command line and the environment.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace lotus::collector {

enum class Mode : std::uint8_t {
  serve,      // until a signal comes
  autostart,  // until the last traced process has ended
  drain,      // collect the present segments, then exit
  status,     // only print the state of the collectors
  encode,     // only print the numbers of events
};

enum ExitCode : int { kDone = 0, kFailed = 1, kWrongUsage = 2, kNobodyServes = 3 };

struct Options {
  Mode mode = Mode::serve;
  bool quiet = false;
  std::string events;                    // encode: names, commas between
  bool json = false;                     // status
  std::vector<std::string> directories;  // absolute candidates for segments, the preferred one first
  std::string log_file;                  // empty: standard error
  std::string fallback_directory;        // for traces whose own path cannot be written
};

// The options, or the exit code where nothing is left to do (--help, --version, wrong usage; their
// text has been printed).
std::variant<Options, ExitCode> parse_options(int argc, const char* const* argv);

}  // namespace lotus::collector
