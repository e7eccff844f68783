// `control-flow`: what loops, branches and recursion cost.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "answers/controlflow/measured.hpp"
#include "answers/controlflow/regions.hpp"
#include "answers/controlflow/views.hpp"
#include "commands/command.hpp"
#include "paper/figures/control_flow_figures.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct ControlFlowOptions {
  std::vector<std::string> traces;
  std::string against, figures;
  std::size_t rows = 12;
  bool json = false, force = false;
};

struct RecordedRegions {
  std::vector<std::unique_ptr<Trace>> traces;  // regions point into them
  std::vector<controlflow::Region> regions;

  explicit RecordedRegions(const std::vector<std::string>& named) {
    for (const auto& path : chosen_traces(named)) {
      traces.push_back(std::make_unique<Trace>(path));
      controlflow::RegionCollector collector(*traces.back(), regions);
      read_trace(*traces.back(), collector);
      collector.finish();
    }
  }

  // A training of which a region was to be recorded has no steps.
  bool lacks_region() const {
    const auto named = [](const auto& numbered) {
      return numbered.second->no_steps.starts_with("LOTUS_REGION");
    };
    return regions.empty() && std::any_of(traces.begin(), traces.end(), [&](const auto& trace) {
             const auto& processes = trace->catalog.processes();
             return std::any_of(processes.begin(), processes.end(), named);
           });
  }
};

constexpr const char* kNoCall =
    "No call of the function that LOTUS_REGION named was seen in the main thread, and training steps are not "
    "recorded beside it. It is a function's qualified name, of the class that defines it, such as "
    "Model.forward; generators and coroutines are none. See docs/control-flow.md.";

void refuse_empty(const std::vector<controlflow::RegionAnswer>& answers, const std::string& name) {
  if (answers.empty())
    throw Unusable(name +
                   ": no call of a region is recorded in it, and no training step with operators, so that "
                   "there is nothing to compare; record with LOTUS_REGION, see docs/control-flow.md");
}

void show_control_flow(const ControlFlowOptions& options) {
  const RecordedRegions recorded(options.traces);
  const auto answers = controlflow::answers_of(recorded.regions);
  std::optional<RecordedRegions> other;
  std::vector<controlflow::RegionAnswer> others;
  if (!options.against.empty()) {
    others = controlflow::answers_of(other.emplace(std::vector<std::string>{options.against}).regions);
    refuse_empty(answers, options.traces.empty() ? "the first trace" : escaped(options.traces.front()));
    refuse_empty(others, escaped(options.against));
  }
  std::optional<controlflow::Measured> measured;
  if (!others.empty())
    measured.emplace(controlflow::Measured{answers.front(), controlflow::twin_of(answers.front(), others)});
  const bool comparable = measured && measured->why_not().empty();
  const auto* against = comparable ? &measured->without : nullptr;
  if (!options.figures.empty())
    say("wrote " + draw_control_flow_figures(answers, against, options.figures, options.force));
  Output out;
  if (options.json) {
    auto json = controlflow::control_flow_json(answers);
    json["against"] = nullptr;
    if (measured) json["against"] = controlflow::measured_json(*measured);
    out.write(json_text(json));
  } else {
    const Terminal terminal = Terminal::of(out.file());
    if (measured) out.write(controlflow::measured_text(*measured, terminal));
    out.write(recorded.lacks_region() ? wrapped(kNoCall, terminal.width) + "\n"
                                      : controlflow::control_flow_text(answers, options.rows, terminal));
  }
  out.close();
}

}  // namespace

Run prepare_control_flow(CLI::App& app) {
  const auto options = std::make_shared<ControlFlowOptions>();
  add_traces(app, options->traces);
  app.add_option("--against", options->against,
                 "the trace of the same work without control flow: what that takes is measured")
      ->type_name("TRACE");
  app.add_option("--figures", options->figures,
                 "draw Cocktailer's figures 2, 15, 16, 18 and 19 into this directory; of several traces, 17")
      ->type_name("DIR");
  app.add_option("--rows", options->rows, "rows of each table")->type_name("COUNT")->capture_default_str();
  app.add_flag("--json", options->json, "one object: regions and the loops, branches and recursions in them");
  app.add_flag("--force", options->force, "replace files that exist");
  return [options] { show_control_flow(*options); };
}

}  // namespace lotus::analyzer
