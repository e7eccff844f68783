// The report as one page of HTML that opens from disk: style, scripts, charting library and data inside.
#pragma once

#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "answers/controlflow/regions.hpp"
#include "answers/memory/steps.hpp"
#include "answers/report/findings.hpp"
#include "answers/stacks/flame.hpp"
#include "answers/stacks/function_map.hpp"
#include "showing/html/batch_rows.hpp"
#include "showing/html/lane_table.hpp"
#include "showing/html/op_times.hpp"
#include "showing/html/sample_gallery.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {

// Collects the data that the page shows beyond the report while traces are read; then writes the page.
class Page {
 public:
  // The visitors that must visit the trace, besides the report's own collector. The trace outlives the page.
  std::vector<Visitor*> visitors(const Trace& trace);
  // After that reading.
  void add(const Trace& trace, const Reading& reading);

  // What `control-flow` says first of the traces so far; empty: nothing.
  const std::string& first_of_control_flow() const { return first_of_control_flow_; }

  // Writes the page; `findings` are those of the same traces. The page is used up.
  void write(Output& out, const Findings& findings);

 private:
  nlohmann::ordered_json native();
  void add_memory();
  void add_control_flow();

  LaneTable lanes_;
  BatchRows rows_{lanes_};
  OpTimes op_times_{lanes_};
  SampleGallery samples_;
  std::unique_ptr<Profile> profile_;         // of the current trace
  std::vector<memory::RecordedStep> steps_;  // of the current trace
  std::unique_ptr<memory::StepCollector> step_collector_;
  nlohmann::ordered_json memory_ = nlohmann::ordered_json::array();  // of traces with recorded steps
  std::vector<controlflow::Region> regions_;                         // of the current trace
  std::unique_ptr<controlflow::RegionCollector> region_collector_;
  nlohmann::ordered_json control_flow_ = nlohmann::ordered_json::array();  // of traces that have any
  std::string first_of_control_flow_;                                      // see first_of_control_flow()
  MapBuilder map_;
  FlameBuilder flames_{FlameTime::cpu, false};
  nlohmann::ordered_json runs_ = nlohmann::ordered_json::array();
};

}  // namespace lotus::analyzer
