// `counters`: what counters of processor and kernel counted in each operation.
#include <memory>
#include <nlohmann/json.hpp>

#include "answers/counters/collector.hpp"
#include "answers/counters/views.hpp"
#include "commands/command.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct CountersOptions {
  std::vector<std::string> traces;
  bool json = false, csv = false;
};

void show_counters(const CountersOptions& options) {
  CounterFindings findings;
  for (const auto& path : chosen_traces(options.traces)) {
    Trace trace(path);
    CounterCollector collector(trace, findings);
    read_trace(trace, collector);
  }
  Output out;
  if (options.json)
    out.write(json_text(counters_json(findings)));
  else if (options.csv)
    out.write(counters_csv(findings));
  else
    out.write(counters_text(findings, Terminal::of(out.file())));
  out.close();
}

}  // namespace

Run prepare_counters(CLI::App& app) {
  const auto options = std::make_shared<CountersOptions>();
  add_traces(app, options->traces);
  auto* json = app.add_flag("--json", options->json, "one object: counters, ops, fetches");
  app.add_flag("--csv", options->csv, "comma-separated values: a row for each operation and counter")
      ->excludes(json);
  return [options] { show_counters(*options); };
}

}  // namespace lotus::analyzer
