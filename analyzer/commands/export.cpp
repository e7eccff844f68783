// `export`: writes a trace in another tool's file format.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>

#include "commands/command.hpp"
#include "paper/lotustrace/exporter.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

struct ExportOptions {
  std::string format = "lotustrace";
  std::string directory;
  std::string prefix = "lotustrace";
  std::vector<std::string> traces;
};

// One directory for each trace, below the given one.
std::string inside_of(const std::string& trace, std::set<std::string>& taken) {
  const std::string stem = std::filesystem::path(trace).stem().string();
  std::string name = stem;
  for (int again = 2; !taken.insert(name).second; ++again) name = fmt::format("{}_{}", stem, again);
  return name;
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
                                  traces.size() > 1 ? inside_of(path, taken) : "");
    read_trace(trace, exporter);
    exporter.finish();
    lines += exporter.lines();
    if (exporter.outside() > 0)
      std::fputs(
          fmt::format("lotus-analyze: {}: {} calls of operations outside of batches are left out: the logs "
                      "have no place for them\n",
                      escaped(path), exporter.outside())
              .c_str(),
          stderr);
  }
  logs.close();
  std::fputs(fmt::format("lotus-analyze: wrote {} lines in {} files below {}\n", lines, logs.files(),
                         escaped(options.directory))
                 .c_str(),
             stderr);
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
  add_traces(app, options->traces);
  return [options] { export_logs(*options); };
}

}  // namespace lotus::analyzer
