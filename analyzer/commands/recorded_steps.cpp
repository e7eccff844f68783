#include "commands/recorded_steps.hpp"

#include "answers/memory/steps.hpp"
#include "reading/input/chosen_traces.hpp"
#include "reading/input/read_trace.hpp"

namespace lotus::analyzer {

RecordedSteps recorded_steps_of(const std::vector<std::string>& named) {
  RecordedSteps recorded;
  for (const auto& path : chosen_traces(named)) {
    recorded.traces.push_back(std::make_unique<Trace>(path));
    memory::StepCollector collector(*recorded.traces.back(), recorded.steps);
    read_trace(*recorded.traces.back(), collector);
    collector.finish();
  }
  return recorded;
}

}  // namespace lotus::analyzer
