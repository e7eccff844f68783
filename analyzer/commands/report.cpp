// `report`: why the input pipeline is slow.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "answers/controlflow/regions.hpp"
#include "answers/controlflow/views.hpp"
#include "answers/ranks/collector.hpp"
#include "answers/report/collector.hpp"
#include "answers/report/report.hpp"
#include "commands/command.hpp"
#include "commands/recordings.hpp"
#include "commands/trace_copy.hpp"
#include "reading/input/former_trace.hpp"
#include "reading/model/fan.hpp"
#include "showing/html/page.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct ReportOptions {
  std::vector<std::string> traces;
  bool json = false;
  bool by_rank = false;
  bool all = false;
  std::optional<std::string> html, against;
  bool force = false;
};

using Traces = std::vector<std::unique_ptr<Trace>>;

Traces opened(const std::vector<std::string>& paths) {
  Traces traces;
  for (const auto& path : paths) traces.push_back(std::make_unique<Trace>(path));
  return traces;
}

void print_report(const Findings& findings, bool json, bool all) {
  Output out;
  if (json)
    out.write(json_text(report_json(findings)));
  else
    out.write(report_text(findings, Terminal::of(out.file()), all));
  out.close();
}

// A run in which something was tried is compared with the one before it.
void compare_trial(Findings& findings, const Traces& traces, const std::optional<std::string>& against) {
  if (findings.tried.empty() && against)
    throw WrongUsage("--against: nothing was tried in " + escaped(findings.files.front()) +
                     "; diff compares any two runs");
  if (findings.tried.empty() || traces.size() > 1) return;
  const std::string former = against ? *against : former_trace_of(*traces.front());
  const auto tried = std::find_if(findings.tried.begin(), findings.tried.end(),
                                  [](const Tried& one) { return one.refused.empty(); });
  if (former.empty() || tried == findings.tried.end()) return;
  Trace before(former);
  findings.trial = outcome_of(tried->settings, recordings_of(before, true), findings.recordings);
}

void report(const ReportOptions& options) {
  const Traces traces = opened(chosen_traces(options.traces));  // findings refer to them
  FindingsCollector collector;
  std::string control_flow;
  for (const auto& trace : traces) {
    std::vector<controlflow::Region> regions;
    controlflow::RegionCollector region_collector(*trace, regions);
    collector.begin(*trace);
    Fan fan({&collector, &region_collector});
    collector.end(read_trace(*trace, fan));
    region_collector.finish();
    controlflow::keep_asked(regions);
    const auto answers = controlflow::answers_of(regions);
    if (control_flow.empty() && !answers.empty()) control_flow = controlflow::headline(answers.front());
  }
  Findings findings = collector.take();
  findings.control_flow = std::move(control_flow);
  compare_trial(findings, traces, options.against);
  print_report(findings, options.json, options.all);
}

void report_ranks(const ReportOptions& options) {
  const Traces traces = opened(chosen_traces(options.traces));
  RankCollector collector;
  for (const auto& trace : traces) {
    collector.begin(*trace);
    read_trace(*trace, collector);
    collector.end();
  }
  const RankFindings findings = collector.take();
  if (findings.ranks.empty())
    throw Unusable(
        traces.front()->source.path() +
        ": no process of it belongs to a rank; only runs of several ranks, as under torchrun, have them");
  Output out;
  out.write(options.json ? json_text(ranks_json(findings)) : ranks_text(findings, Terminal::of(out.file())));
  out.close();
}

void write_page(const ReportOptions& options) {
  const auto paths = chosen_traces(options.traces);
  refuse_onto_itself(paths, *options.html, "reported");
  const Traces traces = opened(paths);
  Output out = Output::like(paths.front(), *options.html, options.force);
  FindingsCollector collector;
  Page page;
  for (const auto& trace : traces) {
    std::vector<Visitor*> visitors = page.visitors(*trace);
    visitors.push_back(&collector);
    collector.begin(*trace);
    Fan fan(std::move(visitors));
    const Reading reading = read_trace(*trace, fan);
    collector.end(reading);
    page.add(*trace, reading);
  }
  Findings findings = collector.take();
  findings.control_flow = page.first_of_control_flow();
  compare_trial(findings, traces, options.against);
  page.write(out, findings);
  out.close();
}

}  // namespace

Run prepare_report(CLI::App& app) {
  const auto options = std::make_shared<ReportOptions>();
  add_traces(app, options->traces);
  auto* json = app.add_flag("--json", options->json, "the same facts as one JSON object");
  auto* html = app.add_option("--html", options->html,
                              "write the report as a page for the browser; -: standard output")
                   ->type_name("OUT")
                   ->excludes(json);
  auto* against =
      app.add_option(
             "--against", options->against,
             "where LOTUS_TRY changed settings: the trace of a run without it, with which to compare; "
             "default: the latest of the same command line beside the trace")
          ->type_name("FORMER");
  app.add_flag("--by-rank", options->by_rank,
               "the ranks of a distributed run side by side: which holds the others up")
      ->excludes(html)
      ->excludes(against);
  app.add_flag("--all", options->all,
               "all functions, also those that took less than 0.1 % of the preprocessing")
      ->excludes(json)
      ->excludes(html);
  app.add_flag("--force", options->force, "replace the page if it exists")->needs(html);
  return [options] {
    options->html ? write_page(*options) : options->by_rank ? report_ranks(*options) : report(*options);
  };
}

}  // namespace lotus::analyzer
