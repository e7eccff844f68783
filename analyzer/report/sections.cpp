#include "report/sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "text/escape.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

constexpr std::size_t kBarColumns = 12;
constexpr std::size_t kMostWorkerRows = 16;

std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : human_percent(100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string percent_or_dash(std::optional<double> percent) { return percent ? human_percent(*percent) : "-"; }

// The name; for callables of the same name, what tells them apart.
std::string label_of(const OpFinding& op, const Findings& findings) {
  const auto same_name = [&](const OpFinding& other) { return other.op.name == op.op.name; };
  const auto same_both = [&](const OpFinding& other) {
    return same_name(other) && other.op.qualified == op.op.qualified;
  };
  const std::string name = escaped(op.op.name);
  if (std::count_if(findings.ops.begin(), findings.ops.end(), same_name) < 2) return name;
  if (std::count_if(findings.ops.begin(), findings.ops.end(), same_both) < 2)
    return fmt::format("{} ({})", name, escaped(op.op.qualified));
  const std::size_t slash = op.op.file.rfind('/');
  return fmt::format("{} ({}:{})", name, escaped(op.op.file.substr(slash + 1)), op.op.line);
}

// Counts that are 0 in nearly every run are shown only when they are not.
void add_count(Table& table, const std::string& name, std::uint64_t count, const std::string& meaning) {
  if (count > 0) table.add({name, human_count(count), meaning});
}

}  // namespace

std::string ops_text(const Findings& f, const Terminal& terminal) {
  if (f.ops.empty()) return {};
  Table table({{"operation", false, 0, true},
               {"calls", true},
               {"mean", true},
               {"std", true, 5},
               {"median", true, 2},
               {"p90", true, 1},
               {"p99", true, 3},
               {"max", true, 4},
               {"<100µs", true, 7},
               {"<10ms", true, 6},
               {"raised", true, 8},
               {"CPU", true, 3},
               {"total", true},
               {"share", true},
               {"", false, 2, false, Style::cyan}});
  for (const auto& op : f.ops) {
    const Summary s = op.wall.summary();
    const double share = share_percent(op, f);
    const auto cpu = cpu_of(op, f);
    table.add({label_of(op, f), human_count(s.count), human_time(s.mean), human_time(s.std),
               human_time(s.p50), human_time(s.p90), human_time(s.p99), human_time(s.max),
               percent_of(op.under_100us, s.count), percent_of(op.under_10ms, s.count),
               human_count(op.errors), cpu ? human_time(*cpu * 1e9) : "-", human_time(op.wall.sum()),
               human_percent(share), bar(share, kBarColumns)});
  }
  const double outside = f.fetch.sum() > 0 ? 100 * f.outside_ops / f.fetch.sum() : 0;
  table.add({"(outside ops)", "", "", "", "", "", "", "", "", "", "", "", human_time(f.outside_ops),
             human_percent(outside), bar(outside, kBarColumns)});
  return table.text(terminal);
}

std::string times_text(const Findings& f, const Terminal& terminal) {
  Table table({{"", false, 0, true},
               {"count", true},
               {"mean", true},
               {"std", true, 4},
               {"min", true, 7},
               {"p25", true, 6},
               {"median", true},
               {"p75", true, 6},
               {"p90", true, 1},
               {"p99", true, 2},
               {"max", true, 3},
               {"total", true, 3}});
  const std::pair<const char*, const Series*> rows[] = {{"preprocessing (T1)", &f.fetch},
                                                        {"wait (T2)", &f.wait},
                                                        {"delay", &f.delay},
                                                        {"training step", &f.train_step},
                                                        {"sample", &f.sample},
                                                        {"serialize", &f.serialize},
                                                        {"send", &f.send},
                                                        {"deserialize", &f.deserialize},
                                                        {"pin memory", &f.pin}};
  for (const auto& [name, series] : rows) {
    if (series->empty()) continue;
    const Summary s = series->summary();
    table.add({name, human_count(s.count), human_time(s.mean), human_time(s.std), human_time(s.min),
               human_time(s.p25), human_time(s.p50), human_time(s.p75), human_time(s.p90), human_time(s.p99),
               human_time(s.max), human_time(series->sum())});
  }
  return table.empty() ? std::string() : table.text(terminal);
}

std::string shares_text(const Findings& f, const Terminal& terminal) {
  if (f.wait.empty()) return {};
  Table table({{"", false, 0, true}, {"", true}, {"", false, 0, false, Style::cyan}});
  const auto add = [&](const char* name, std::optional<double> percent) {
    if (percent) table.add({name, human_percent(*percent), bar(*percent, kBarColumns)});
  };
  const auto share = [](std::uint64_t part, const Series& of) -> std::optional<double> {
    if (of.empty()) return std::nullopt;
    return 100.0 * static_cast<double>(part) / static_cast<double>(of.count());
  };
  if (f.wall > 0) add("stalled: waits in the run's duration", 100 * f.wait.sum() / f.wall);
  add("batches that arrived out of order", share(f.out_of_order, f.wait));
  add("waits over 500 ms", share(f.wait_over_500ms, f.wait));
  add("waits over 1 ms", share(f.wait_over_1ms, f.wait));
  add("waits under 1 ms, in order", share(f.wait_under_1ms_in_order, f.wait));
  add("delays over 500 ms", share(f.delay_over_500ms, f.delay));
  add("delays under 250 ms", share(f.delay_under_250ms, f.delay));
  std::string out = table.text(terminal);
  out.erase(0, out.find('\n') + 1);  // it has no titles
  if (f.queue_samples > 0)
    out += wrapped(fmt::format("  {:.1f} batches were asked for ahead on average, {} at most",
                               f.queue_sum / static_cast<double>(f.queue_samples), f.queue_most),
                   terminal.width, 2) +
           "\n";
  return out;
}

std::string workers_text(const Findings& f, const Terminal& terminal) {
  struct Row {
    std::uint64_t processes = 0, batches = 0, pid = 0;
    double fetch = 0, life = 0;
  };
  std::map<std::tuple<std::size_t, std::int64_t, std::size_t>, Row> rows;  // loader, worker, process
  const bool merged = f.workers.size() > kMostWorkerRows;
  for (std::size_t i = 0; i < f.workers.size(); ++i) {
    const WorkerFinding& worker = f.workers[i];
    const std::size_t loader = worker.loader.value_or(f.loaders.size());
    Row& row = rows[{loader, worker.id, merged ? 0 : i}];
    ++row.processes;
    row.batches += worker.batches;
    row.pid = worker.process->pid;
    row.fetch += worker.fetch;
    row.life += worker.life;
  }
  if (rows.empty()) return {};
  Table table({{"loader", true},
               {"worker", true},
               {merged ? "processes" : "pid", true},
               {"batches", true},
               {"mean batch", true, 1},
               {"preprocessing", true, 2},
               {"life", true, 3},
               {"busy", true},
               {"", false, 0, false, Style::cyan}});
  for (const auto& [key, row] : rows) {
    const auto& [loader, worker, process] = key;
    const bool known = loader < f.loaders.size() && f.loaders[loader].loader;
    const double busy = row.life > 0 ? 100 * row.fetch / row.life : 0;
    table.add({known ? std::to_string(f.loaders[loader].loader->id) : "-", std::to_string(worker),
               merged ? human_count(row.processes) : std::to_string(row.pid), human_count(row.batches),
               row.batches == 0 ? "-" : human_time(row.fetch / static_cast<double>(row.batches)),
               human_time(row.fetch), human_time(row.life), row.life > 0 ? human_percent(busy) : "-",
               bar(busy, kBarColumns)});
  }
  return table.text(terminal);
}

std::string slow_text(const Findings& f, const Terminal& terminal) {
  if (f.slow.empty()) return {};
  Table table(
      {{"time", true}, {"index", true}, {"pid", true, 1}, {"mostly", false, 0}, {"file", false, 0, true}});
  for (const auto& sample : f.slow)
    table.add({human_time(static_cast<double>(sample.ns)),
               sample.index < 0 ? "-" : std::to_string(sample.index), std::to_string(sample.pid),
               sample.op.empty() ? "-" : escaped(sample.op),
               sample.path.empty() ? "-" : escaped(sample.path)});
  return table.text(terminal);
}

std::string loaders_text(const Findings& f, const Terminal& terminal) {
  if (f.loaders.empty()) return {};
  Table table({{"loader", true},
               {"pid", true, f.files.size() > 1 ? 1 : 5},
               {"dataset", false, 0, true},
               {"length", true, 4},
               {"batch size", true, 3},
               {"workers", true},
               {"prefetch", true, 5},
               {"pin", false, 6},
               {"persistent", false, 7},
               {"epochs", true, 2},
               {"batches", true},
               {"step", true, 2},
               {"waited", true},
               {"", false, 3, false, Style::cyan}});
  for (const auto& finding : f.loaders) {
    const Loader unknown{.dataset = "(its definition is lost)"};
    const Loader& l = finding.loader ? *finding.loader : unknown;
    table.add({finding.loader ? std::to_string(l.id) : "-", std::to_string(finding.training->pid),
               escaped(l.dataset), l.length < 0 ? "-" : human_count(static_cast<std::uint64_t>(l.length)),
               l.batch_size == 0 ? "-" : human_count(l.batch_size), human_count(l.workers),
               human_count(l.prefetch), l.pin_memory ? "yes" : "no", l.persistent ? "yes" : "no",
               human_count(finding.epochs), human_count(finding.fetch.count()),
               finding.train_step.empty() ? "-" : human_time(finding.train_step.mean()),
               percent_or_dash(finding.waited_percent()),
               bar(finding.waited_percent().value_or(0), kBarColumns)});
  }
  return table.text(terminal);
}

std::string quality_text(const Findings& f, const Terminal& terminal) {
  const QualityFinding& q = f.quality;
  Table table({{"", false}, {"", true}, {"", false, 0, true, Style::dim}});
  table.add({"events", human_count(q.events), ""});
  table.add(
      {"lost events", human_count(q.lost_events),
       q.lost_events > 0 ? "the collector did not keep up: numbers above are low" : "nothing was dropped"});
  table.add({"tracer's share", percent_or_dash(q.overhead_percent()),
             "of preprocessing and training time, estimated"});
  add_count(table, "lost definitions", q.lost_definitions, "some names are unknown");
  add_count(table, "unrecorded spans", q.dropped_spans, "too many threads, or nested too deeply");
  add_count(table, "gaps", q.gaps, "places where records are missing");
  add_count(table, "open spans", q.open_spans, "had not ended at the end of the trace; not in the numbers");
  add_count(table, "failed batches", f.failed_batches, "making them raised; not in the numbers");
  add_count(table, "damaged bytes", q.damage.bytes, "were skipped; `lotus-analyze info` says where");
  if (q.truncated) table.add({"truncated", "yes", "no trailer: still being written, or cut off"});
  if (q.interrupted) table.add({"interrupted", "yes", "the collector was ended while programs ran"});
  if (!q.calibrated)
    table.add({"clock", "guessed", "too short to calibrate: times may be wrong by a factor"});
  std::string out = table.text(terminal);
  return out.erase(0, out.find('\n') + 1);  // it has no titles
}

}  // namespace lotus::analyzer
