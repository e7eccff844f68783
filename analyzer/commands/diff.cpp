// `diff`: two runs compared.
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/command.hpp"
#include "stacks/comparison.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct Options {
  std::string before, after;
  bool json = false;
};

Costs costs_of(const std::string& path, FrameTable& frames) {
  Trace trace(path);
  CostReader reader(trace, frames);
  read_trace(trace, reader);
  return reader.take();
}

void show_diff(const Options& options) {
  FrameTable frames;
  const Costs before = costs_of(options.before, frames);
  const Costs after = costs_of(options.after, frames);
  Comparison comparison = compare(before, after, frames);
  comparison.before = options.before;
  comparison.after = options.after;
  Output out;
  if (options.json)
    out.write(comparison_json(comparison).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
              "\n");
  else
    out.write(comparison_text(comparison, Terminal::of(out.file())));
  out.close();
}

}  // namespace

Run prepare_diff(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("BEFORE", options->before, "trace of the first run")->required();
  app.add_option("AFTER", options->after, "trace of the second run")->required();
  app.add_flag("--json", options->json, "one JSON object");
  return [options] { show_diff(*options); };
}

}  // namespace lotus::analyzer
