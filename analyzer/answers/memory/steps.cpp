#include "answers/memory/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lotus::analyzer::memory {
namespace {

Phase phase_of(std::uint64_t code) {
  return code <= static_cast<std::uint64_t>(StepPhase::optimizer) ? static_cast<Phase>(code) : Phase::forward;
}

std::string operator_name(const Process& process, std::uint64_t hook) {
  const auto found = process.hooks.find(hook);
  return found != process.hooks.end() ? found->second.name
                                      : fmt::format("operator {} (its name is lost)", hook);
}

Operator operator_of(const Process& process, const Record& record) {
  Operator made;
  made.name = operator_name(process, field<Kind::torch_op, "hook">(record));
  made.phase = phase_of(field<Kind::torch_op, "phase">(record));
  made.place = field<Kind::torch_op, "place">(record);
  made.forward = field<Kind::torch_op, "forward">(record);
  return made;
}

double seconds_of_ns(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

bool is_asked_for_batch(const Stream& stream) {
  return std::any_of(stream.stack.begin(), stream.stack.end(),
                     [](const OpenSpan& span) { return span.kind == Kind::next; });
}

}  // namespace

void StepCollector::begin(const Stream& stream, Open& open, const Record& record, std::uint64_t ticks) {
  if (open.builder) cut_off(open);
  open.number = field<Kind::step, "number">(record);
  const bool follows = open.number == open.survived + 1;
  open.builder = std::make_unique<StepBuilder>(*stream.process, trace_.clock, open.number, ticks,
                                               field<Kind::step, "live">(record),
                                               follows ? std::move(open.survivors) : Survivors{});
  open.survivors.clear();
  open.last = ticks;
  open.lost = false;
  open.faults = field<Kind::step, "faults">(record);
  open.system_ns = field<Kind::step, "system">(record);
  open.followed = Followed{};
  open.followed.plan = field<Kind::step, "planned">(record) != 0;
  open.followed.plan_freed = field<Kind::step, "plan_freed">(record);
  open.followed.plan_moves = field<Kind::step, "plan_moves">(record);
  open.followed.plan_moving_s = seconds_of_ns(field<Kind::step, "plan_moving">(record));
}

void StepCollector::end(Open& open, const Record& record, std::uint64_t ticks) {
  const bool incomplete = open.lost || (field<Kind::step_end, "incomplete">(record) & 1) != 0;
  RecordedStep made = open.builder->finish(ticks, field<Kind::step_end, "live">(record), incomplete);
  const auto since = [](std::uint64_t after, std::uint64_t before) {
    return after > before ? after - before : 0;
  };
  made.faults = since(field<Kind::step_end, "faults">(record), open.faults);
  made.system_s = static_cast<double>(since(field<Kind::step_end, "system">(record), open.system_ns)) / 1e9;
  made.followed = open.followed;
  made.followed.moves = field<Kind::step_end, "moves">(record);
  made.followed.moved_bytes = field<Kind::step_end, "moved">(record);
  made.followed.moving_s = seconds_of_ns(field<Kind::step_end, "moving">(record));
  made.followed.late = field<Kind::step_end, "late">(record);
  if (made.is_whole()) {
    open.survivors = open.builder->survivors();
    open.survived = open.number;
  }
  keep(std::move(made));
  open.builder.reset();
}

// A step without operators trains nothing: the program sleeps, or it comes after the last batch.
void StepCollector::keep(RecordedStep made) {
  if (!made.step.operators.empty()) steps_.push_back(std::move(made));
}

void StepCollector::cut_off(Open& open) {
  keep(open.builder->finish(open.last, std::nullopt, open.lost));
  open.builder.reset();
}

void StepCollector::add(const Stream& stream, Open& open, const Record& record, std::uint64_t ticks) {
  StepBuilder& builder = *open.builder;
  open.last = ticks;
  switch (record.kind) {
    case Kind::operand:
      return builder.operand(field<Kind::operand, "use">(record), field<Kind::operand, "data">(record),
                             field<Kind::operand, "bytes">(record), field<Kind::operand, "form">(record));
    case Kind::torch_op:
      return builder.operator_ended(operator_of(*stream.process, record),
                                    field<Kind::torch_op, "ticks">(record), ticks);
    case Kind::allocated:
      return builder.allocated(field<Kind::allocated, "address">(record),
                               field<Kind::allocated, "bytes">(record),
                               field<Kind::allocated, "place">(record), ticks, is_asked_for_batch(stream));
    case Kind::released:
      return builder.released(field<Kind::released, "address">(record),
                              field<Kind::released, "bytes">(record), ticks);
    default:
      return;
  }
}

void StepCollector::on_point(const Stream& stream, const Record& record, std::uint64_t ticks) {
  switch (record.kind) {
    case Kind::region:
      met_region_ = true;
      return;
    case Kind::step:
    case Kind::step_end:
    case Kind::torch_op:
    case Kind::operand:
    case Kind::allocated:
    case Kind::released:
      break;
    default:
      return;
  }
  Open& open = open_[{stream.process->number, stream.number}];
  if (record.kind == Kind::step) return begin(stream, open, record, ticks);
  if (!open.builder) return;  // its begin is lost
  if (record.kind == Kind::step_end) return end(open, record, ticks);
  add(stream, open, record, ticks);
}

void StepCollector::on_gap(const Stream& stream, std::uint64_t, std::uint64_t) {
  const auto found = open_.find({stream.process->number, stream.number});
  if (found != open_.end()) found->second.lost = true;
}

void StepCollector::finish() {
  for (auto& [key, open] : open_)
    if (open.builder) cut_off(open);
}

}  // namespace lotus::analyzer::memory
