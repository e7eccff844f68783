// `timeline`: Chrome trace JSON or Perfetto's own format, written while the trace streams by.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "commands/command.hpp"
#include "showing/timeline/chrome.hpp"
#include "showing/timeline/drawing.hpp"
#include "showing/timeline/perfetto.hpp"
#include "showing/timeline/torch_profile.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct TimelineOptions {
  std::vector<std::string> traces;
  std::string output;
  std::string profile;
  std::string format = "chrome";
  bool coarse = false;
  bool force = false;
};

using Sink = std::unique_ptr<TimelineSink>;

Sink chrome_sink(const Trace& trace, std::int64_t start, const TorchProfile* profile, const Lanes& lanes,
                 Output& out) {
  if (profile != nullptr) start = std::min(start, profile->first());
  return std::make_unique<ChromeTimeline>(trace.source.path(), start, lanes, out);
}

Sink perfetto_sink(const Trace&, std::int64_t start, const TorchProfile*, const Lanes& lanes, Output& out) {
  return std::make_unique<PerfettoTimeline>(start, lanes, out);
}

struct Format {
  const char* name;
  const char* suffix;  // of the default output
  Sink (*sink)(const Trace& trace, std::int64_t start, const TorchProfile* profile, const Lanes& lanes,
               Output& out);
};
constexpr Format kFormats[] = {{"chrome", ".json", chrome_sink}, {"perfetto", ".pftrace", perfetto_sink}};

const Format& format_of(const TimelineOptions& options) {
  for (const auto& format : kFormats)
    if (options.format == format.name) return format;
  throw WrongUsage(fmt::format("--format {}: choose chrome or perfetto", escaped(options.format)));
}

std::string target_of(const TimelineOptions& options, const std::string& path) {
  std::string target = options.output.empty() ? path + format_of(options).suffix : options.output;
  std::error_code ignored;
  for (const auto& input : {path, options.profile})
    if (target != "-" && std::filesystem::equivalent(target, input, ignored))
      throw WrongUsage(fmt::format("-o {}: is the {} itself; choose another name", escaped(target),
                                   input == path ? "trace" : "profile"));
  return target;
}

// The profile to merge, if there is one; throws if it cannot be merged.
std::optional<TorchProfile> profile_for(const TimelineOptions& options, const Trace& trace,
                                        const Reading& reading, Lanes& lanes) {
  if (options.profile.empty()) return std::nullopt;
  std::optional<TorchProfile> profile(options.profile);
  for (const auto& [number, process] : trace.catalog.processes()) lanes.pid_of(*process);
  profile->check_same_run(trace.source.path(), trace.clock.ns(reading.whole.first),
                          trace.clock.ns(reading.whole.last), lanes);
  return profile;
}

void write_timeline(const TimelineOptions& options, const std::string& path) {
  Trace trace(path);
  const std::string target = target_of(options, path);
  Lanes lanes;
  Outline outline(lanes);
  const Reading reading = read_trace(trace, outline);
  outline.settle();
  const auto merged = profile_for(options, trace, reading, lanes);
  const TorchProfile* profile = merged ? &*merged : nullptr;
  Output out(target, options.force);
  const Sink sink = format_of(options).sink(trace, start_of(trace, reading), profile, lanes, out);
  Drawing drawing(trace, outline, lanes, reading, options.coarse, *sink);
  read_trace(trace, drawing);
  sink->finish(profile);
  out.close();
  if (target == "-") return;
  const std::string line =
      fmt::format("lotus-analyze: wrote {}; open it at https://ui.perfetto.dev\n", escaped(target));
  std::fputs(line.c_str(), stderr);
}

}  // namespace

Run prepare_timeline(CLI::App& app) {
  const auto options = std::make_shared<TimelineOptions>();
  add_traces(app, options->traces);
  app.add_option("-o,--output", options->output, "default: TRACE.json or TRACE.pftrace; - is standard output")
      ->type_name("FILE");
  app.add_option("--format", options->format, "chrome (JSON) or perfetto (its own format)")
      ->capture_default_str();
  app.add_option("--merge", options->profile, "a profile that torch.profiler exported in the same run")
      ->type_name("PROFILE.json");
  app.add_flag("--coarse", options->coarse, "batches only");
  app.add_flag("--force", options->force, "replace the output if it exists");
  return [options] {
    format_of(*options);
    const auto traces = chosen_traces(options->traces);
    if (traces.size() > 1 && !options->output.empty())
      throw WrongUsage("-o names one file, but there are several traces; leave it out, or name one trace");
    for (const auto& path : traces) write_timeline(*options, path);
  };
}

}  // namespace lotus::analyzer
