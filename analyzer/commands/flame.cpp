// `flame`: the stacks of each operation, for flame graphs.
#include <fmt/format.h>

#include <memory>

#include "answers/stacks/flame.hpp"
#include "answers/stacks/map_views.hpp"
#include "commands/command.hpp"
#include "commands/profiles.hpp"
#include "commands/trace_copy.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct FlameOptions {
  std::vector<std::string> traces;
  ProfileFilter filter;
  std::string format = "folded";
  std::string output = "-";
  bool waiting = false;
  bool everything = false;
  bool force = false;
};

void show_flame(const FlameOptions& options) {
  FlameBuilder builder(options.waiting ? FlameTime::waiting : FlameTime::cpu, options.everything);
  const auto traces = chosen_traces(options.traces);
  refuse_onto_itself(traces, options.output, "drawn");
  std::string nothing;
  each_profile(traces, options.filter,
               [&](const Trace& trace, const Profile& profile, const Reading& reading) {
                 builder.add(trace, profile);
                 const std::string why = why_no_samples(profile.facts(reading));
                 if (!why.empty()) nothing = escaped(trace.source.path()) + ": " + why;
               });
  const auto ops = builder.take();
  if (ops.empty() && !nothing.empty()) say(nothing);
  Output out(options.output, options.force);
  const WriteText write = [&](std::string_view text) { out.write(text); };
  if (options.format == "speedscope")
    write_speedscope(ops, builder.frames(), traces.front(), write);
  else
    write_folded(ops, builder.frames(), write);
  out.close();
}

}  // namespace

Run prepare_flame(CLI::App& app) {
  const auto options = std::make_shared<FlameOptions>();
  add_traces(app, options->traces);
  add_profile_filter(app, options->filter);
  app.add_option("--format", options->format,
                 "folded: lines for flamegraph.pl or inferno; speedscope: JSON for www.speedscope.app")
      ->check(CLI::IsMember({"folded", "speedscope"}))
      ->capture_default_str();
  app.add_option("-o,--output", options->output, "file to write; -: standard output")->capture_default_str();
  app.add_flag(
      "--waiting", options->waiting,
      "instead of CPU time, the calls inside of fetches that waited 10 ms or more: where, and how long");
  app.add_flag("--everything", options->everything, "keep frames of the interpreter and of the tracer");
  app.add_flag("--force", options->force, "replace the file if it exists");
  return [options] { show_flame(*options); };
}

}  // namespace lotus::analyzer
