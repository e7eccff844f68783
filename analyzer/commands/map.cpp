// `map`: which native functions each operation runs.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/command.hpp"
#include "commands/profiles.hpp"
#include "stacks/map_views.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct Options {
  std::vector<std::string> traces;
  ProfileFilter filter;
  double min_share_percent = 100 * ListingRule{}.min_share;
  bool json = false;
  bool full = false;
};

void show_map(const Options& options) {
  Output out;
  MapBuilder builder;
  each_profile(chosen_traces(options.traces), options.filter,
               [&](const Trace& trace, const Profile& profile, const Reading& reading) {
                 builder.add(trace, profile, reading);
               });
  ListingRule rule;
  rule.min_share = options.min_share_percent / 100;
  const FunctionMap map = builder.take(rule);
  if (options.json || options.full) {
    const auto json = options.full ? full_map_json(map) : map_json(map);
    out.write(json_text(json));
  } else {
    out.write(map_text(map, Terminal::of(out.file())));
  }
  out.close();
}

}  // namespace

Run prepare_map(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_traces(app, options->traces);
  add_profile_filter(app, options->filter);
  app.add_option("--min-share", options->min_share_percent,
                 "list a function if the lower end of its share's interval is above this")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_flag("--json", options->json, "op_to_func and common_funcs_to_op: what is listed, for programs");
  app.add_flag("--full", options->full, "JSON with everything, also what is not listed");
  return [options] { show_map(*options); };
}

}  // namespace lotus::analyzer
