// `counters`: what counters of processor and kernel counted in each operation.
#include <memory>
#include <nlohmann/json.hpp>

#include "answers/counters/collector.hpp"
#include "answers/counters/function_views.hpp"
#include "answers/counters/views.hpp"
#include "commands/command.hpp"
#include "reading/model/fan.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct CountersOptions {
  std::vector<std::string> traces;
  bool json = false, csv = false, functions = false;
};

void write_functions(Output& out, const FunctionCounts& counts, const CounterFindings& findings,
                     const CountersOptions& options) {
  if (options.json) {
    auto json = counters_json(findings);
    json["functions"] = functions_json(counts, findings);
    out.write(json_text(json));
  } else if (options.csv) {
    out.write(functions_csv(counts, findings));
  } else {
    out.write(functions_text(counts, findings, Terminal::of(out.file())));
  }
}

void write_counters(Output& out, const CounterFindings& findings, const CountersOptions& options) {
  if (options.json)
    out.write(json_text(counters_json(findings)));
  else if (options.csv)
    out.write(counters_csv(findings));
  else
    out.write(counters_text(findings, Terminal::of(out.file())));
}

void show_counters(const CountersOptions& options) {
  CounterFindings findings;
  FunctionCounter functions;
  for (const auto& path : chosen_traces(options.traces)) {
    Trace trace(path);
    CounterCollector collector(trace, findings);
    if (!options.functions) {
      read_trace(trace, collector);
      continue;
    }
    functions.begin(trace);
    Fan fan({&collector, &functions});
    read_trace(trace, fan);
    functions.end();
  }
  Output out;
  if (options.functions)
    write_functions(out, functions.take(), findings, options);
  else
    write_counters(out, findings, options);
  out.close();
}

}  // namespace

Run prepare_counters(CLI::App& app) {
  const auto options = std::make_shared<CountersOptions>();
  add_traces(app, options->traces);
  auto* json = app.add_flag("--json", options->json, "one object: counters, ops, fetches");
  app.add_flag("--functions", options->functions,
               "functions of operations instead, by stack samples; with --json beside them");
  app.add_flag("--csv", options->csv, "comma-separated values: a row for each operation and counter")
      ->excludes(json);
  return [options] { show_counters(*options); };
}

}  // namespace lotus::analyzer
