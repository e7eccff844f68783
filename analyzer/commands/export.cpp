// `export`: writes a trace in another tool's file format.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "commands/command.hpp"
#include "paper/lotustrace/exporter.hpp"
#include "paper/lotustrace/log_name.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

struct ExportOptions {
  std::string format = "lotustrace";
  std::string directory;
  std::string prefix = "lotustrace_log";
  std::optional<std::uint64_t> epoch;
  std::vector<std::string> traces;
};

// One directory for each trace, below the given one, called as the published scripts expect it. Of several
// alike, by the trace's name, too.
std::string inside_of(const Trace& trace, std::set<std::string>& taken) {
  const std::string stem = std::filesystem::path(trace.source.path()).stem().string();
  std::string configuration = lotustrace::configuration_of(trace);
  if (!configuration.empty() && taken.insert(configuration).second) return configuration;
  const std::string base = configuration.empty() ? stem : stem + "_" + configuration;
  std::string name = base;
  for (int again = 2; !taken.insert(name).second; ++again) name = fmt::format("{}_{}", base, again);
  return name;
}

// What the published scripts would not read as it is.
void tell_of_names(const ExportOptions& options, const Trace& trace, const lotustrace::Exporter& exporter,
                   bool alone) {
  if (exporter.several())
    say(
        fmt::format("{}: each epoch, loader and process has a directory; the published scripts read one: "
                    "--epoch 0 writes that epoch alone",
                    escaped(trace.source.path())));
  const std::string wanted = lotustrace::configuration_of(trace);
  const auto named = lotustrace::parse_configuration(options.directory);
  if (alone && !wanted.empty() && (named.batch_size == 0 || named.ranks == 0))
    say(fmt::format("the published scripts read batch size and GPUs from the directory's name: {}", wanted));
}

void export_logs(const ExportOptions& options) {
  if (options.prefix.empty() || options.prefix.find('/') != std::string::npos)
    throw WrongUsage(
        fmt::format("--prefix {}: begins names of files and may hold no /", escaped(options.prefix)));
  const auto traces = chosen_traces(options.traces);
  std::set<std::string> taken;
  lotustrace::LogWriter logs(options.directory);
  std::uint64_t lines = 0;
  for (const auto& path : traces) {
    Trace trace(path);
    lotustrace::Exporter exporter(trace, logs, options.prefix,
                                  traces.size() > 1 ? inside_of(trace, taken) : "", options.epoch);
    read_trace(trace, exporter);
    exporter.finish();
    lines += exporter.lines();
    tell_of_names(options, trace, exporter, traces.size() == 1);
    if (exporter.outside() > 0)
      say(fmt::format(
          "{}: {} calls of operations outside of batches are left out: the logs have no place for them",
          escaped(path), exporter.outside()));
  }
  logs.close();
  say(fmt::format("wrote {} lines in {} files below {}", lines, logs.files(), escaped(options.directory)));
}

}  // namespace

Run prepare_export(CLI::App& app) {
  const auto options = std::make_shared<ExportOptions>();
  app.add_option("--format", options->format, "lotustrace: the log files of LotusTrace")
      ->check(CLI::IsMember({"lotustrace"}))
      ->capture_default_str();
  app.add_option("--prefix", options->prefix, "prefix of the names of files (LotusTrace's log_file)")
      ->capture_default_str();
  app.add_option("DIR", options->directory, "a new directory, or an empty one")->required();
  app.add_option("--epoch", options->epoch, "only this epoch of each loader, from 0");
  add_traces(app, options->traces);
  return [options] { export_logs(*options); };
}

}  // namespace lotus::analyzer
