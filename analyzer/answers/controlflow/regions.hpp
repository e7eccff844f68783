// The regions and steps that a trace has the control flow of.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "answers/controlflow/region_builder.hpp"
#include "reading/model/visitor.hpp"
#include "reading/trace/trace.hpp"

namespace lotus::analyzer::controlflow {

class RegionCollector : public Visitor {
 public:
  // Regions are added to `regions`; their processes live as long as the trace.
  RegionCollector(const Trace& trace, std::vector<Region>& regions) : trace_(trace), regions_(regions) {}

  void on_point(const Stream& stream, const Record& record, std::uint64_t ticks) override;
  void on_gap(const Stream& stream, std::uint64_t lost_records, std::uint64_t ticks) override;
  // Call after the trace is read: regions that did not end.
  void finish();

 private:
  struct Open {
    std::unique_ptr<RegionBuilder> builder;
    bool is_step = false;
    std::uint64_t last = 0;  // ticks of its last record
  };
  void begin(const Stream& stream, Open& open, const Record& record, std::uint64_t ticks);
  void end(Open& open, const Record& record, std::uint64_t ticks);
  void keep(Region region);

  const Trace& trace_;
  std::vector<Region>& regions_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Open> open_;  // by process and stream
};

// Leaves out steps of a training that was not asked for control flow: they tell nothing of it.
void keep_asked(std::vector<Region>& regions);

}  // namespace lotus::analyzer::controlflow
