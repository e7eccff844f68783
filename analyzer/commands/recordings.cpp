#include "commands/recordings.hpp"

#include "answers/replay/recorder.hpp"
#include "reading/input/read_trace.hpp"

namespace lotus::analyzer {

std::vector<Recording> recordings_of(Trace& trace, bool quiet) {
  Recorder recorder;
  recorder.begin(trace);
  read_trace(trace, recorder, quiet);
  recorder.end();
  return recorder.take();
}

}  // namespace lotus::analyzer
