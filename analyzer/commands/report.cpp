// `report`: why the input pipeline is slow.
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/command.hpp"
#include "report/collector.hpp"
#include "report/report.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct Options {
  std::vector<std::string> traces;
  bool json = false;
};

void report(const Options& options) {
  Output out;
  Collector collector;
  std::vector<std::unique_ptr<Trace>> traces;  // findings refer to them
  for (const auto& path : chosen_traces(options.traces)) {
    Trace& trace = *traces.emplace_back(std::make_unique<Trace>(path));
    collector.begin(trace);
    collector.end(read_trace(trace, collector));
  }
  const Findings findings = collector.take();
  if (options.json)
    out.write(report_json(findings).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  else
    out.write(report_text(findings, Terminal::of(out.file())));
  out.close();
}

}  // namespace

Run prepare_report(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  add_traces(app, options->traces);
  app.add_flag("--json", options->json, "the same facts as one JSON object");
  return [options] { report(*options); };
}

}  // namespace lotus::analyzer
