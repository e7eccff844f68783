#include "answers/controlflow/regions.hpp"

namespace lotus::analyzer::controlflow {
namespace {

void add(RegionBuilder& builder, const Record& record, std::uint64_t ticks) {
  switch (record.kind) {
    case Kind::operand: {
      const std::uint64_t use = field<Kind::operand, "use">(record);
      return builder.operand({field<Kind::operand, "data">(record), field<Kind::operand, "offset">(record),
                              use / 2, use % 2 == 1});
    }
    case Kind::torch_op:
      return builder.operator_ended(
          field<Kind::torch_op, "hook">(record), field<Kind::torch_op, "place">(record),
          field<Kind::torch_op, "ticks">(record), field<Kind::torch_op, "nested">(record), ticks);
    case Kind::allocated:
      return builder.changed(field<Kind::allocated, "address">(record), true);
    case Kind::released:
      return builder.changed(field<Kind::released, "address">(record), false);
    case Kind::python_call:
      return builder.call(field<Kind::python_call, "code">(record), field<Kind::python_call, "place">(record),
                          field<Kind::python_call, "resumed">(record), ticks);
    case Kind::python_return:
      return builder.returned(ticks);
    default:
      return;
  }
}

bool is_of_regions(Kind kind) {
  switch (kind) {
    case Kind::step:
    case Kind::step_end:
    case Kind::region:
    case Kind::region_end:
    case Kind::operand:
    case Kind::torch_op:
    case Kind::allocated:
    case Kind::released:
    case Kind::python_call:
    case Kind::python_return:
      return true;
    default:
      return false;
  }
}

}  // namespace

void RegionCollector::keep(Region region) {
  if (region.operators.empty() && !region.calls_seen && !region.only_timed) return;
  region.ns_per_tick = trace_.clock.ns_per_tick();
  regions_.push_back(std::move(region));
}

void RegionCollector::begin(const Stream& stream, Open& open, const Record& record, std::uint64_t ticks) {
  const bool is_step = record.kind == Kind::step;
  if (open.builder && is_step) return;  // inside of a region
  if (open.builder) keep(open.builder->finish(open.last, false, 0, 0));
  const std::uint64_t number =
      is_step ? field<Kind::step, "number">(record) : field<Kind::region, "number">(record);
  open.builder = std::make_unique<RegionBuilder>(*stream.process, is_step, number, ticks);
  open.is_step = is_step;
}

void RegionCollector::end(Open& open, const Record& record, std::uint64_t ticks) {
  const bool is_step = record.kind == Kind::step_end;
  if (open.is_step != is_step) return;
  const std::uint64_t incomplete =
      is_step ? field<Kind::step_end, "incomplete">(record) : field<Kind::region_end, "incomplete">(record);
  const std::uint64_t cost = is_step ? 0 : field<Kind::region_end, "cost">(record);
  const std::uint64_t cpu_ns =
      is_step ? field<Kind::step_end, "cpu">(record) : field<Kind::region_end, "cpu">(record);
  Region region = open.builder->finish(ticks, true, incomplete, cost);
  if (cpu_ns != 0) region.cpu_ns = cpu_ns;  // else of an older recorder
  keep(std::move(region));
  open.builder.reset();
}

void RegionCollector::on_point(const Stream& stream, const Record& record, std::uint64_t ticks) {
  if (!is_of_regions(record.kind)) return;
  Open& open = open_[{stream.process->number, stream.number}];
  if (record.kind == Kind::step || record.kind == Kind::region) {
    begin(stream, open, record, ticks);
  } else if (open.builder) {
    open.last = ticks;
    if (record.kind == Kind::step_end || record.kind == Kind::region_end) return end(open, record, ticks);
    add(*open.builder, record, ticks);
  }
}

void RegionCollector::on_gap(const Stream& stream, std::uint64_t, std::uint64_t) {
  const auto found = open_.find({stream.process->number, stream.number});
  if (found != open_.end() && found->second.builder) found->second.builder->lost();
}

void keep_asked(std::vector<Region>& regions) {
  std::erase_if(regions, [](const Region& region) { return !region.calls_seen && !region.only_timed; });
}

void RegionCollector::finish() {
  for (auto& [key, open] : open_)
    if (open.builder) keep(open.builder->finish(open.last, false, 0, 0));
}

}  // namespace lotus::analyzer::controlflow
