// `table`: the research system's tables.
#include <fmt/format.h>

#include <memory>

#include "commands/command.hpp"
#include "commands/trace_copy.hpp"
#include "paper/tables/tables.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct TableOptions {
  std::string name;
  std::vector<std::string> traces;
  std::string output = "-";
  bool csv = false, json = false, force = false;
};

std::string table_names() {
  std::string text;
  for (const auto& kind : table_kinds()) {
    text += (text.empty() ? "" : ", ") + std::string(kind.name);
    if (kind.number != nullptr) text += fmt::format(" ({})", kind.number);
  }
  return text;
}

const TableKind& kind_of(const TableOptions& options) {
  const TableKind* kind = find_table(options.name);
  if (kind == nullptr)
    throw WrongUsage(fmt::format("{}: no such table; there are {}", escaped(options.name), table_names()));
  return *kind;
}

void show_table(const TableOptions& options) {
  const TableKind& kind = kind_of(options);
  const auto traces = chosen_traces(options.traces);
  refuse_onto_itself(traces, options.output, "tabulated");
  const auto runs = read_runs(traces);
  const DataTable table = kind.make(runs);
  Output out(options.output, options.force);
  if (options.csv)
    out.write(table.csv());
  else if (options.json)
    out.write(json_text({{"schema", 1}, {"table", kind.name}, {"rows", table.json()}}));
  else if (table.rows.empty())
    out.write("Nothing of this is in the trace.\n");
  else
    out.write(table.text(Terminal::of(out.file())));
  out.close();
}

}  // namespace

Run prepare_table(CLI::App& app) {
  const auto options = std::make_shared<TableOptions>();
  app.add_option("NAME", options->name, table_names())->required();
  add_traces(app, options->traces);
  auto* csv = app.add_flag("--csv", options->csv, "comma-separated values");
  app.add_flag("--json", options->json, "a list of objects")->excludes(csv);
  app.add_option("-o,--output", options->output, "file to write; -: standard output")->capture_default_str();
  app.add_flag("--force", options->force, "replace the file if it exists");
  return [options] { show_table(*options); };
}

}  // namespace lotus::analyzer
