// `figure`: the research system's figures.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "commands/command.hpp"
#include "commands/trace_copy.hpp"
#include "paper/figures/draw.hpp"
#include "paper/figures/figures.hpp"
#include "text/error.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

namespace fs = std::filesystem;

struct FigureArguments {
  std::string name;
  std::vector<std::string> traces;
  std::string output;
  FigureOptions figure;
  bool force = false;
};

std::string figure_names() {
  std::string text;
  for (const auto& kind : figure_kinds())
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", kind.number, kind.name);
  return text;
}

struct Targets {
  std::string csv;
  std::vector<std::string> pictures;
};

Targets targets_of(const std::string& output) {
  const fs::path path(output);
  const std::string suffix = path.extension().string();
  if (suffix == ".svg" || suffix == ".png")
    return {fs::path(path).replace_extension(".csv").string(), {output}};
  if (suffix == ".csv") return {output, {}};
  return {output + ".csv", {output + ".svg", output + ".png"}};
}

void check_free(const Targets& targets, bool force) {
  std::error_code ignored;
  for (const auto& picture : targets.pictures)
    if (!force && fs::exists(picture, ignored))
      throw WrongUsage(
          fmt::format("{}: exists; give --force to replace it, or another name", escaped(picture)));
}

void make_figure(const FigureArguments& options) {
  const FigureKind* kind = find_figure(options.name);
  if (kind == nullptr)
    throw WrongUsage(fmt::format("{}: no such figure; there are {}", escaped(options.name), figure_names()));
  if (options.output.empty()) throw WrongUsage("-o: names no file");
  const Targets targets = targets_of(options.output);
  check_free(targets, options.force);
  const auto traces = chosen_traces(options.traces);
  refuse_onto_itself(traces, targets.csv, "drawn");
  for (const auto& picture : targets.pictures) refuse_onto_itself(traces, picture, "drawn");
  const DataTable data = kind->make(read_runs(traces), options.figure);
  Output csv(targets.csv, options.force);
  csv.write(data.csv());
  csv.close();
  if (!targets.pictures.empty()) draw_figure(kind->number, kind->title, targets.csv, targets.pictures);
  std::string wrote = escaped(targets.csv);
  for (const auto& picture : targets.pictures) wrote += ", " + escaped(picture);
  std::fputs(fmt::format("lotus-analyze: wrote {}\n", wrote).c_str(), stderr);
}

}  // namespace

Run prepare_figure(CLI::App& app) {
  const auto options = std::make_shared<FigureArguments>();
  app.add_option("NAME", options->name, figure_names())->required();
  add_traces(app, options->traces);
  app.add_option(
         "-o,--output", options->output,
         "FILE.svg or FILE.png, with FILE.csv beside it; any other name gets all three; FILE.csv: data only")
      ->type_name("FILE")
      ->required();
  app.add_option("--from", options->figure.from, "2 and 3: the first batch to show")->type_name("NUMBER");
  app.add_option("--epoch", options->figure.epoch,
                 "2 and 3: the epoch to show, from 0; default: the first (2), any (3)")
      ->type_name("NUMBER");
  app.add_option("--batches", options->figure.batches, "2 and 3: number of batches to show")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--counter", options->figure.counters,
                 "6e to 6h: beginning of a counter's name; given twice: also of the second counter")
      ->allow_extra_args(false);
  app.add_flag("--force", options->force, "replace files that exist");
  return [options] { make_figure(*options); };
}

}  // namespace lotus::analyzer
