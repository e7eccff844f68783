// `timeline`: Chrome trace JSON, written while the trace streams by.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "commands/command.hpp"
#include "model/numbering.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"
#include "timeline/chrome.hpp"
#include "trace/error.hpp"

namespace lotus::analyzer {
namespace {

struct Options {
  std::vector<std::string> traces;
  std::string output;
  bool coarse = false;
};

void write_timeline(const Options& options, const std::string& path) {
  Trace trace(path);
  const std::string target = options.output.empty() ? path + ".json" : options.output;
  std::error_code ignored;
  if (target != "-" && std::filesystem::equivalent(target, path, ignored))
    throw WrongUsage(fmt::format("-o {}: is the trace itself; choose another name", escaped(target)));
  Numbering numbering;
  const Reading reading = read_trace(trace, numbering);
  numbering.settle();
  Output out(target);
  ChromeTimeline timeline(trace, numbering, reading, options.coarse, out);
  timeline.begin();
  read_trace(trace, timeline);
  timeline.end();
  out.close();
  if (target == "-") return;
  const std::string line =
      fmt::format("lotus-analyze: wrote {}; open it at https://ui.perfetto.dev\n", escaped(target));
  std::fputs(line.c_str(), stderr);
}

}  // namespace

Run prepare_timeline(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_traces(app, options->traces);
  app.add_option("-o,--output", options->output, "default: TRACE.json; - is standard output")
      ->type_name("FILE");
  app.add_flag("--coarse", options->coarse, "batches only");
  return [options] {
    const auto traces = chosen_traces(options->traces);
    if (traces.size() > 1 && !options->output.empty())
      throw WrongUsage("-o names one file, but there are several traces; leave it out, or name one trace");
    for (const auto& path : traces) write_timeline(*options, path);
  };
}

}  // namespace lotus::analyzer
