// `map`: which native functions each operation runs.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "answers/stacks/map_views.hpp"
#include "commands/command.hpp"
#include "commands/profiles.hpp"
#include "paper/split/mapping.hpp"
#include "paper/tables/data_table.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct MapOptions {
  std::vector<std::string> traces;
  ProfileFilter filter;
  double min_share_percent = 100 * ListingRule{}.min_share;
  bool json = false;
  bool full = false;
};

// The mapping that an importer stored. Imported traces have no samples.
void show_imported(const std::vector<MappedFunction>& mapped, bool json, Output& out) {
  if (json) return out.write(json_text(mapping_json(mapped)));
  DataTable table{
      {{"operation", "operation"}, {"function", "function", Unit::text, 0, true}, {"library", "library"}},
      {}};
  for (const auto& one : mapped) table.add({one.op, one.function, one.library});
  out.write(table.text(Terminal::of(out.file())));
}

void show_map(const MapOptions& options) {
  Output out;
  MapBuilder builder;
  std::vector<MappedFunction> imported;
  each_profile(chosen_traces(options.traces), options.filter,
               [&](const Trace& trace, const Profile& profile, const Reading& reading) {
                 builder.add(trace, profile, reading);
                 const auto& mapped = trace.catalog.imported.mapped;
                 imported.insert(imported.end(), mapped.begin(), mapped.end());
               });
  ListingRule rule;
  rule.min_share = options.min_share_percent / 100;
  const FunctionMap map = builder.take(rule);
  if (map.sampling.samples == 0 && !imported.empty() && !options.full) {
    show_imported(imported, options.json, out);
  } else if (options.json || options.full) {
    const auto json = options.full ? full_map_json(map) : map_json(map);
    out.write(json_text(json));
  } else {
    out.write(map_text(map, Terminal::of(out.file())));
  }
  out.close();
}

}  // namespace

Run prepare_map(CLI::App& app) {
  const auto options = std::make_shared<MapOptions>();
  add_traces(app, options->traces);
  add_profile_filter(app, options->filter);
  app.add_option("--min-share", options->min_share_percent,
                 "list a function if the lower end of its share's interval is above this")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_flag("--json", options->json, "JSON of what is listed: op_to_func and common_funcs_to_op");
  app.add_flag("--full", options->full, "JSON with everything, including functions that are not listed");
  return [options] { show_map(*options); };
}

}  // namespace lotus::analyzer
