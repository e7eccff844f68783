#include "answers/report/cells.hpp"
#include "answers/report/sections.hpp"
#include "text/escape.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

// Counts that are 0 in nearly every run are shown only when they are not.
void add_count(Table& table, const char* name, std::uint64_t count, const char* meaning) {
  if (count > 0) table.add({name, human_count(count), meaning});
}

}  // namespace

std::string slow_text(const Findings& f, const Terminal& terminal) {
  if (f.slow.empty()) return {};
  Table table({{"time"},
               {"index"},
               {.title = "pid", .importance = 1},
               {.title = "mostly", .right = false, .importance = 2},
               {.title = "file", .right = false, .flexible = true, .narrowest = 32}});
  for (const auto& sample : f.slow)
    table.add({human_time(static_cast<double>(sample.ns)),
               sample.index < 0 ? "-" : std::to_string(sample.index), std::to_string(sample.pid),
               (sample.op.empty() ? "-" : escaped(sample.op)) + (sample.first ? ", worker's first" : ""),
               sample.path.empty() ? "-" : escaped(sample.path)});
  return table.text(terminal);
}

std::string quality_text(const Findings& f, const Terminal& terminal) {
  const QualityFinding& q = f.quality;
  Table table({{.right = false}, {}, {.right = false, .flexible = true, .style = Style::dim}});
  table.add({"events", human_count(q.events), ""});
  table.add({"lost events", human_count(q.lost_events),
             q.lost_events > 0 ? "the collector did not keep up: counts are low" : "nothing was dropped"});
  table.add({"tracer's share", percent_or_dash(q.overhead_percent()), "of the time measured, estimated"});
  add_count(table, "lost definitions", q.lost_definitions, "some names are unknown");
  add_count(table, "unrecorded spans", q.dropped_spans, "too many threads, or nested too deeply");
  add_count(table, "silent workers", q.unrecorded_workers,
            q.truncated ? "nothing of them is here so far" : "recorded nothing: no room in shared memory?");
  add_count(table, "missing workers", q.missing_workers, "began; what they did is not here so far");
  add_count(table, "gaps", q.gaps, "places where records are missing");
  if (q.without_timers > 0)
    table.add({"without timers", human_count(q.without_timers),
               "processes: stacks are not sampled, " + q.timers_refused.why()});
  if (q.missing_loop > 0)
    table.add({"missing loop", human_time(q.missing_loop), "of training, in gaps; not in the numbers"});
  add_count(table, "open spans", q.open_spans, "never ended; not in the numbers");
  add_count(table, "failed batches", f.failed_batches, "making them raised; not in the numbers");
  add_count(table, "damaged bytes", q.damage.bytes, "skipped; `lotus-analyze info` says where");
  if (q.truncated) table.add({"truncated", "yes", "no trailer: still being written, or cut off"});
  if (q.interrupted) table.add({"interrupted", "yes", "its collector was ended while programs ran"});
  if (!q.calibrated) table.add({"clock", "guessed", "too short to calibrate: times may be far off"});
  return table.text(terminal);
}

}  // namespace lotus::analyzer
