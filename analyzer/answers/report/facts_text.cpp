#include <fmt/format.h>

#include "answers/report/cells.hpp"
#include "answers/report/sections.hpp"

namespace lotus::analyzer {
namespace {

// Shares of time below this one are not told.
constexpr double kTellsOfFactsPercent = 2;

std::string sampler_line(const SamplerFinding& sampler) {
  const auto share = sampler.share_percent();
  if (!share || *share < kTellsOfFactsPercent) return {};
  return fmt::format(
      "the sampler took {} in training's process, {} of its loops: {} at the starts of epochs, {} for later "
      "batches",
      human_time(sampler.total()), human_percent(*share), human_time(sampler.first),
      human_time(sampler.later));
}

}  // namespace

std::string facts_text(const Findings& f, const Terminal& terminal) {
  const std::string lines[] = {sampler_line(f.facts.sampler)};
  std::string out;
  for (const std::string& line : lines)
    if (!line.empty()) out += "  " + wrapped(line, terminal.width - 2, 2) + "\n";
  return out;
}

}  // namespace lotus::analyzer
