// `diff`: two runs compared.
#include <memory>
#include <nlohmann/json.hpp>

#include "answers/counters/collector.hpp"
#include "answers/stacks/comparison.hpp"
#include "commands/command.hpp"
#include "reading/model/fan.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct DiffOptions {
  std::string before, after;
  bool json = false;
};

struct Compared {
  Costs costs;
  CounterFindings counters;
  bool complete = false;
};

Compared compared(const std::string& path, FrameTable& frames) {
  Trace trace(path);
  CostReader reader(trace, frames);
  CounterFindings counters;
  CounterCollector counting(trace, counters);
  Fan both({&reader, &counting});
  read_trace(trace, both);
  counting.end();
  Compared run{reader.take(), std::move(counters), !trace.truncated()};
  if (run.costs.ops.empty() && run.costs.loop.batch.count() == 0)
    throw Unusable(path + ": holds no operation and no batch: there is nothing to compare");
  return run;
}

// Functions whose names are not in the file yet would look like different functions.
void drop_functions(Compared& run) {
  for (auto& [name, cost] : run.costs.ops) cost.functions.clear();
}

void show_diff(const DiffOptions& options) {
  FrameTable frames;
  Compared before = compared(options.before, frames);
  Compared after = compared(options.after, frames);
  const bool complete = before.complete && after.complete;
  if (!complete)
    for (Compared* run : {&before, &after}) drop_functions(*run);
  Comparison comparison =
      compare(before.costs, after.costs, frames, compare_counters(before.counters, after.counters));
  comparison.before = options.before;
  comparison.after = options.after;
  if (!complete) comparison.unfinished = before.complete ? options.after : options.before;
  Output out;
  if (options.json)
    out.write(json_text(comparison_json(comparison)));
  else
    out.write(comparison_text(comparison, Terminal::of(out.file())));
  out.close();
}

}  // namespace

Run prepare_diff(CLI::App& app) {
  const auto options = std::make_shared<DiffOptions>();
  app.add_option("BEFORE", options->before, "trace of the first run")->required();
  app.add_option("AFTER", options->after, "trace of the second run")->required();
  app.add_flag("--json", options->json, "one JSON object");
  return [options] { show_diff(*options); };
}

}  // namespace lotus::analyzer
