// `memory`: what memory a training step holds.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "answers/memory/views.hpp"
#include "commands/command.hpp"
#include "commands/recorded_steps.hpp"
#include "paper/figures/memory_figure.hpp"
#include "text/escape.hpp"
#include "text/output.hpp"

namespace lotus::analyzer {
namespace {

struct MemoryOptions {
  std::vector<std::string> traces;
  std::optional<std::uint64_t> step;
  std::size_t rows = 12;
  std::string figures;
  bool json = false, folded = false, force = false;
};

void show_memory(const MemoryOptions& options) {
  const RecordedSteps recorded = needed_steps_of(options.traces);
  const std::vector<memory::RecordedStep>& steps = recorded.steps;
  const memory::MemoryAnswer answer = memory::answer_of(steps, options.step);
  if (!options.figures.empty()) say("wrote " + draw_memory_figure(answer, options.figures, options.force));
  Output out;
  if (options.json)
    out.write(json_text(memory::memory_json(steps, answer)));
  else if (options.folded)
    out.write(memory::memory_folded(answer));
  else
    out.write(memory::memory_text(steps, answer, options.rows, Terminal::of(out.file())));
  out.close();
}

}  // namespace

Run prepare_memory(CLI::App& app) {
  const auto options = std::make_shared<MemoryOptions>();
  add_traces(app, options->traces);
  app.add_option("--step", options->step, "the step to tell of; default: the one with the highest peak")
      ->type_name("NUMBER");
  app.add_option("--rows", options->rows, "rows of each table")->type_name("COUNT")->capture_default_str();
  auto* json = app.add_flag("--json", options->json, "one object: steps, peak, what is alive at it, growth");
  app.add_flag("--folded", options->folded, "what is alive at the peak, as folded stacks of bytes")
      ->excludes(json);
  app.add_option("--figures", options->figures, "draw what is in use over the step into this directory")
      ->type_name("DIR");
  app.add_flag("--force", options->force, "replace files that exist");
  return [options] { show_memory(*options); };
}

}  // namespace lotus::analyzer
