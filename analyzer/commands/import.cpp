// `import`: a trace of another tool's files.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "commands/command.hpp"
#include "paper/lotustrace/importer.hpp"
#include "paper/split/counters.hpp"
#include "paper/split/mapping.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"

namespace lotus::analyzer {
namespace {

namespace fs = std::filesystem;

struct ImportOptions {
  std::vector<std::string> directories;
  std::string output;
  std::string mapping, counters;
  lotustrace::KnownFacts known;
  bool strict = false;
  bool force = false;
};

// A configuration in a directory's name must be readable, or given by options.
void check_names(const std::vector<lotustrace::Run>& runs, const lotustrace::KnownFacts& known) {
  if (known.batch_size > 0 || known.ranks > 0 || known.workers > 0) return;
  for (const auto& run : runs)
    if (run.configuration.damaged)
      throw Unusable(
          fmt::format("{}: no configuration can be read from its name: expected b<batch>_gpu<n> or "
                      "<name>_dataloader<n> with numbers from 1, as b512_gpu4; rename it, or say it by "
                      "--batch-size, --ranks and --workers",
                      escaped(run.directories.front().path)));
}

// The output files. For one configuration: -o; for several: files in the directory -o.
std::vector<std::string> targets_of(const ImportOptions& options, const std::vector<lotustrace::Run>& runs) {
  if (runs.size() == 1) return {options.output};
  std::string names;
  std::map<std::string, std::string> places;  // by name
  for (const auto& run : runs) {
    const std::string& place = run.directories.front().path;
    const auto [other, is_new] = places.try_emplace(run.configuration.name, place);
    if (!is_new)
      throw Unusable(
          fmt::format("{}: has the same name as {}, and so would its trace: rename it, or import it alone",
                      escaped(place), escaped(other->second)));
    names += (names.empty() ? "" : ", ") + run.configuration.name;
  }
  std::error_code error;
  if (fs::path(options.output).extension() == kTraceSuffix || fs::is_regular_file(options.output, error))
    throw WrongUsage(
        fmt::format("-o {}: there are logs of {} configurations ({}), which make a trace each: name a "
                    "directory for them",
                    escaped(options.output), runs.size(), escaped(names)));
  fs::create_directories(options.output, error);
  if (error) throw Unusable(fmt::format("{}: cannot be made: {}", escaped(options.output), error.message()));
  std::vector<std::string> targets;
  targets.reserve(runs.size());
  for (const auto& run : runs)
    targets.push_back((fs::path(options.output) / (run.configuration.name + kTraceSuffix)).string());
  return targets;
}

void check_mapping(const ImportOptions& options, const Imported& facts, const std::set<std::string>& ops) {
  const auto unknown = unknown_ops(facts.mapped, ops);
  if (unknown.empty()) return;
  std::string known;
  for (const auto& op : ops) known += (known.empty() ? "" : ", ") + escaped(op);
  std::size_t mapped = 0;
  for (const auto& one : facts.mapped) mapped += ops.contains(one.op) ? 1 : 0;
  std::string text = fmt::format("{}: the logs have no operation", escaped(options.mapping));
  for (const auto& op : unknown) text += (&op == &unknown.front() ? " " : ", ") + escaped(op);
  text += fmt::format("; expected some of {}", known);
  if (mapped == 0 || options.strict) throw Unusable(text);
  say(text + "; what is mapped to the others gets no share");
}

std::string left_out(std::uint64_t lines) {
  constexpr std::uint64_t kTold = lotustrace::Complaints::kTold;
  const std::string text =
      fmt::format("{} of the logs {} left out", lines == 1 ? "1 line" : fmt::format("{} lines", lines),
                  lines == 1 ? "is" : "are");
  return lines > kTold ? fmt::format("{}; the first {} are shown", text, kTold) : text;
}

void write_run(const ImportOptions& options, const lotustrace::Run& run, const Imported& facts,
               const std::string& target, Output& out) {
  lotustrace::Complaints complaints(say);
  lotustrace::Importer importer(run, options.known, facts, out, complaints);
  importer.run();
  check_mapping(options, facts, importer.ops());
  if (options.strict && complaints.count() > 0)
    throw Unusable(
        fmt::format("{} lines are damaged, and --strict was given: no trace was made", complaints.count()));
  out.close();
  if (complaints.count() > 0) say(left_out(complaints.count()));
  say(fmt::format("wrote {} (processes: {}, epochs: {}, batches: {})", escaped(target), importer.processes(),
                  importer.epochs(), importer.batches()));
}

// Even with --force, an input file is never replaced.
void check_target(const ImportOptions& options, const lotustrace::Run& run, const std::string& target) {
  std::error_code ignored;
  for (const auto& table : {options.mapping, options.counters})
    if (fs::equivalent(table, target, ignored))
      throw WrongUsage(fmt::format("-o {}: is what is read; name another file", escaped(target)));
  for (const auto& directory : run.directories)
    for (const auto* files : {&directory.main, &directory.workers})
      for (const auto& file : *files)
        if (fs::equivalent(file.path, target, ignored))
          throw WrongUsage(fmt::format("-o {}: is one of the logs; name another file", escaped(target)));
}

void import_run(const ImportOptions& options, const lotustrace::Run& run, const Imported& facts,
                const std::string& target) {
  check_target(options, run, target);
  Output out(target, options.force);
  write_run(options, run, facts, target, out);
}

void import_logs(const ImportOptions& options) {
  Imported facts;
  if (!options.mapping.empty()) facts.mapped = read_mapping(options.mapping);
  if (!options.counters.empty()) facts.counters = read_counters(options.counters, facts.mapped, say);
  const auto runs = lotustrace::find_runs(options.directories);
  if (runs.size() > 1 && !options.counters.empty())
    throw WrongUsage("--uarch is a table of one run, but there are logs of several; import them one by one");
  check_names(runs, options.known);
  const auto targets = targets_of(options, runs);
  for (std::size_t i = 0; i < runs.size(); ++i) import_run(options, runs[i], facts, targets[i]);
}

}  // namespace

Run prepare_import(CLI::App& app) {
  const auto options = std::make_shared<ImportOptions>();
  app.add_option("DIR", options->directories,
                 "directories of LotusTrace logs; those of several configurations make a trace each")
      ->required();
  app.add_option("-o,--output", options->output,
                 "the trace to write; for several configurations, a directory for the traces")
      ->type_name("TRACE")
      ->required();
  app.add_option("--mapping", options->mapping,
                 "which functions run in which operation: LotusMap's JSON, or that of map --json")
      ->type_name("JSON");
  app.add_option("--uarch", options->counters,
                 "a profiler's table of counters, one row per function, with the columns Function, Module "
                 "(optional), CPU Time, Clockticks (if columns are in percent) and any other counters")
      ->type_name("CSV");
  app.add_option("--batch-size", options->known.batch_size,
                 "batch size of the run, if no directory name says it")
      ->check(CLI::PositiveNumber);
  app.add_option("--workers", options->known.workers,
                 "number of workers, if neither directory names nor logs say it")
      ->check(CLI::PositiveNumber);
  app.add_option("--ranks", options->known.ranks,
                 "number of GPUs or training processes, if no directory name says it")
      ->check(CLI::PositiveNumber);
  app.add_flag("--strict", options->strict,
               "a damaged line, or an unknown operation of the mapping, is an error");
  app.add_flag("--force", options->force, "replace the output if it exists");
  return [options] { import_logs(*options); };
}

}  // namespace lotus::analyzer
