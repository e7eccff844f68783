// The Python frames of a thread that stands still, read from its process's memory. Nothing of the process
// runs for it: no signal interrupts what the thread waits in.
#pragma once

#include <cstdint>
#include <lotus/python_frames.hpp>
#include <string>
#include <vector>

namespace lotus::collector {

struct StandingFrame {
  std::string function, file;  // UTF-8
  std::uint64_t line = 0;      // that is executed; 0: not known
};

struct StandingFrames {
  std::vector<StandingFrame> frames;  // innermost first; empty: not known, or there are none
  int error = 0;                      // errno if the kernel did not let us read
};

// Of the thread of `pid` whose state lies at `thread_state`. Frames that change meanwhile are left out.
StandingFrames standing_frames(std::uint32_t pid, const PythonFrames& layout, std::uint64_t thread_state);

}  // namespace lotus::collector
