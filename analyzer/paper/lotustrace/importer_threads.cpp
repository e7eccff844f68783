// The threads of an imported trace: what the training process did, what the workers did.
#include <algorithm>

#include "paper/lotustrace/importer_state.hpp"

namespace lotus::analyzer::lotustrace {
namespace {

using What = BlockSpan::What;

constexpr std::uint64_t kNotKnown = UINT64_MAX;

OpRole role_of(What what) {
  switch (what) {
    case What::loader:
      return OpRole::loader;
    case What::transform:
      return OpRole::runner;
    case What::collation:
      return OpRole::collate;
    default:
      return OpRole::transform;
  }
}

}  // namespace

void Importer::write_steps(Training& training, std::int64_t until) {
  auto& steps = training.steps;
  while (training.done < steps.size() && steps[training.done].at <= until)
    write_step(training, steps[training.done++]);
}

void Importer::write_received(Training& training, const Step& step) {
  const auto& [iterator, reset, batch] = step.batch;
  process_of(training.plan.pid)
      .main.record<Kind::received>(ticks_of(step.at), iterator, reset, batch, step.expected,
                                   step.outstanding.value_or(kNotKnown));
}

void Importer::write_step(Training& training, const Step& logged) {
  Process& process = process_of(training.plan.pid);
  ThreadWriter& thread = process.main;
  Step step = logged;
  step.at = process.now = std::max(process.now, step.at);  // a thread's records are in order of time
  const std::uint64_t at = ticks_of(step.at);
  const auto& [iterator, reset, batch] = step.batch;
  switch (step.what) {
    case Step::What::enter:
      thread.record<Kind::next>(at, iterator, reset);
      return thread.record<Kind::wait>(at, iterator, reset);
    case Step::What::arrive:
      return write_received(training, step);
    case Step::What::lone:
      thread.record<Kind::wait>(at, iterator, reset);
      write_received(training, step);
      return thread.record<Kind::leave>(at);
    case Step::What::got:
      thread.record<Kind::get>(at, iterator, reset);
      write_received(training, step);
      return thread.record<Kind::leave>(at);
    case Step::What::fetch:
      if (const PlannedEpoch* epoch = training.epoch_of(step.batch)) {
        for (auto& source : sources_[epoch->directory])
          if (source->file.name.pid == training.plan.pid && fill(*source))
            write_block(process, *source, {iterator, reset, step.until});
      }
      return;
    case Step::What::queued:
      return thread.record<Kind::queued>(at, iterator, reset, batch, step.outstanding.value_or(kNotKnown));
    case Step::What::leave:
    case Step::What::abandon:
      return write_leave(process, step);
  }
}

// A batch that the training process made itself is consumed when its wait ends, without a step between.
void Importer::write_leave(Process& process, const Step& step) {
  ThreadWriter& thread = process.main;
  const std::uint64_t at = ticks_of(step.at);
  const auto leave = [&] {
    if (step.what == Step::What::leave)
      thread.record<Kind::leave>(at);
    else
      thread.record<Kind::leave_error>(at);
  };
  if (!step.inline_fetch) {
    thread.record<Kind::consume>(at, step.batch.iterator, step.batch.reset, step.batch.batch);
    leave();
  }
  leave();
  leave();
}

void Importer::write_pins(Training& training) {
  auto& pins = training.pins;
  if (pins.empty()) return;
  std::sort(pins.begin(), pins.end(),
            [](const auto& a, const auto& b) { return a.stamp.start < b.stamp.start; });
  ThreadWriter& thread = process_of(training.plan.pid).pin;
  std::int64_t busy = INT64_MIN;
  for (const auto& [stamp, batch] : pins) {
    const LogDirectory& logs = run_.directories[training.epoch_of(batch)->directory];
    if (stamp.start < busy) {
      complaints_.add(logs.main.front().path, stamp.line,
                      "overlaps the pinning of another batch; it is left out");
      continue;
    }
    busy = stamp.end();
    thread.record<Kind::pin>(ticks_of(stamp.start), batch.iterator, batch.reset, batch.batch);
    thread.record<Kind::leave>(ticks_of(stamp.end()));
    thread.record<Kind::pin_queued>(ticks_of(stamp.end()), batch.iterator, batch.reset, batch.batch);
  }
}

bool Importer::fill(Source& source) {
  if (!source.ready && !source.ended) {
    source.ready = source.blocks.next(source.block);
    source.ended = !source.ready;
  }
  return source.ready;
}

void Importer::write_blocks(Source& source, const PlannedEpoch& epoch) {
  while (fill(source) && source.epoch() <= epoch.epoch)
    write_block(process_of(source.file.name.pid), source, {0, epoch.reset});
}

void Importer::write_block(Process& process, Source& source, const Fetching& fetching) {
  source.ready = false;
  auto& spans = source.block.spans;
  add_samples(spans);
  for (const BlockSpan& odd : nest(spans))
    complaints_.add(source.file.path, odd.line,
                    "overlaps another record in part, or lies inside too many; it is left out");
  std::vector<std::int64_t> open;
  const auto close_until = [&](const BlockSpan* next) {
    while (!open.empty() && (next == nullptr || (open.back() <= next->start && open.back() < next->end))) {
      process.main.record<Kind::leave>(ticks_of(open.back()));
      process.now = open.back();
      open.pop_back();
    }
  };
  for (const BlockSpan& span : spans) {
    close_until(&span);
    if (span.start < process.now || span.end > fetching.until) {
      complaints_.add(source.file.path, span.line,
                      span.start < process.now
                          ? "begins before the batch before it has ended; it is left out"
                          : "ends after the wait for its batch has ended; it is left out");
      continue;
    }
    process.now = span.start;
    enter(process, source, span, fetching);
    open.push_back(span.end);
  }
  close_until(nullptr);
}

void Importer::enter(Process& process, const Source& source, const BlockSpan& span,
                     const Fetching& fetching) {
  const std::uint64_t at = ticks_of(span.start);
  if (span.what == What::fetch)
    process.main.record<Kind::fetch>(at, fetching.iterator, fetching.reset, span.batch);
  else if (span.what == What::sample)
    process.main.record<Kind::sample>(at, -1);
  else
    process.main.record<Kind::op>(at, op_of(process, source, span));
}

std::uint64_t Importer::op_of(Process& process, const Source& source, const BlockSpan& span) {
  std::string name = "Compose";
  if (span.what == What::op) name = source.blocks.names()[span.name];
  if (span.what == What::loader) name = "Loader";
  if (span.what == What::collation) name = "Collation";
  const auto role = static_cast<std::uint64_t>(role_of(span.what));
  const auto [slot, fresh] = process.ops.try_emplace(std::to_string(role) + name, process.ops.size() + 1);
  if (!fresh) return slot->second;
  file_->define<Kind::op_def>(process.number, ticks_of(span.start), slot->second, role, name, "", "", 0);
  if (span.what != What::transform) op_names_.insert(name);
  return slot->second;
}

}  // namespace lotus::analyzer::lotustrace
