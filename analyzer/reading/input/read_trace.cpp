#include "reading/input/read_trace.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <set>
#include <string>

#include "reading/input/growing.hpp"
#include "reading/model/model.hpp"
#include "text/escape.hpp"
#include "text/progress.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

// Warns on stderr, once for each file, of the parts that are missing in all printed numbers.
void tell_what_is_missing(const Trace& trace, const Reading& reading) {
  static std::set<std::string> told;
  const std::uint64_t damaged = trace.damage.bytes + reading.damage.bytes;
  if ((!trace.truncated() && damaged == 0) || !told.insert(trace.source.path()).second) return;
  const bool running = trace.truncated() && is_being_written(trace.source.path());
  std::string text = fmt::format("lotus-analyze: {}: ", escaped(trace.source.path()));
  if (damaged > 0)
    text += fmt::format("{} are damaged and left out; ", human_bytes(static_cast<double>(damaged)));
  if (running)
    text +=
        "it is still being written: the last seconds come later, and names of new functions some minutes "
        "later; ";
  else if (trace.truncated())
    text +=
        "not complete: its collector was killed, or the file was cut off; what is left in shared memory, "
        "lotus-collector --drain adds; ";
  text += running ? "lotus-analyze info says more\n"
                  : "lotus-analyze info says more, recover makes what is here a whole trace\n";
  std::fputs(text.c_str(), stderr);
}

}  // namespace

Reading read_trace(Trace& trace, Visitor& visitor, bool quiet) {
  Reading reading = [&] {
    Progress progress(trace.source.path(), trace.source.size());
    Model model(trace, visitor, [&](std::uint64_t done) { progress.update(done); });
    return model.run();
  }();
  if (!quiet) tell_what_is_missing(trace, reading);
  return reading;
}

}  // namespace lotus::analyzer
