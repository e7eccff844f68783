#include "commands/recorded_steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "answers/memory/steps.hpp"
#include "reading/input/chosen_traces.hpp"
#include "reading/input/read_trace.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {

RecordedSteps recorded_steps_of(const std::vector<std::string>& named) {
  RecordedSteps recorded;
  for (const auto& path : chosen_traces(named)) {
    recorded.traces.push_back(std::make_unique<Trace>(path));
    memory::StepCollector collector(*recorded.traces.back(), recorded.steps);
    read_trace(*recorded.traces.back(), collector);
    collector.finish();
    recorded.region = recorded.region || collector.met_region();
  }
  return recorded;
}

namespace {

// Why processes say that they record no steps; each reason once. What trains nothing says none, though a
// region may be recorded.
std::string reasons_of(const RecordedSteps& recorded) {
  std::set<std::string> reasons;
  for (const auto& trace : recorded.traces)
    for (const auto& [number, process] : trace->catalog.processes())
      if (!process->no_steps.empty()) reasons.insert(escaped(process->no_steps));
  if (reasons.empty() && recorded.region)
    reasons.insert("LOTUS_REGION was set: calls of that function are recorded in place of training steps");
  return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace

RecordedSteps needed_steps_of(const std::vector<std::string>& named) {
  RecordedSteps recorded = recorded_steps_of(named);
  if (!recorded.steps.empty()) return recorded;
  const std::string file =
      escaped(recorded.traces.front()->source.path()) + (recorded.traces.size() > 1 ? " and others" : "");
  const std::string reasons = reasons_of(recorded);
  if (reasons.starts_with("LOTUS_REGION"))
    throw Unusable(fmt::format(
        "{}: no step of training is recorded with its operators. {}. Record once more without it; with "
        "LOTUS_CONTROL_FLOW=1 in its place, one run tells memory and control flow of steps, see "
        "docs/memory.md",
        file, reasons));
  throw Unusable(fmt::format(
      "{}: no step of training is recorded with its operators{}; record with LOTUS_STEPS=auto (the default) "
      "or all. A step is what lies between two batches of a loader or two steps of an optimizer, see "
      "docs/memory.md",
      file, reasons.empty() ? "" : " (" + reasons + ")"));
}

}  // namespace lotus::analyzer
