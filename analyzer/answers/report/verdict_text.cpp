// The advices as a table, and the causes that hold beside the first.
#include <fmt/format.h>

#include <algorithm>

#include "answers/report/sections.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
namespace {

// What holds beside the first cause.
std::string other_causes_text(const Diagnosis& diagnosis, const Terminal& terminal) {
  std::string text;
  for (std::size_t i = 1; i < diagnosis.held.size(); ++i) {
    const auto& [cause, judgement] = diagnosis.held[i];
    const std::string line = fmt::format("also: {} (cause {}, {} of training's time)", judgement.words,
                                         name_of(cause), human_percent(judgement.explains));
    text += "  " + wrapped(line, terminal.width - 2, 4) + "\n";
  }
  return text;
}

const char* none_gains(const Diagnosis& diagnosis) {
  const CauseRow& row = row_of(diagnosis.cause());
  return row.action == nullptr && row.change != nullptr ? "What is advised above is not in the replay. "
                                                        : "No change gains for certain. ";
}

std::string note_of(const Diagnosis& diagnosis, const std::string& unit) {
  const bool none = std::all_of(diagnosis.advice.begin(), diagnosis.advice.end(),
                                [](const Advice& advice) { return advice.action == "none"; });
  return fmt::format(
      "{}The replay of the run as recorded is off by {:+.1f} % in {}/s, {:+.1f} points in the share "
      "waited; try other changes with `lotus-analyze whatif`.",
      none ? none_gains(diagnosis) : "", diagnosis.error->rate_percent, unit, diagnosis.error->waited_points);
}

}  // namespace

std::string advice_text(const Findings& findings, const Diagnosis& diagnosis, const Terminal& terminal) {
  if (!diagnosis.error) return other_causes_text(diagnosis, terminal);
  const Achieved& now = findings.recordings.front().achieved;
  Table table({{.right = false, .flexible = true, .narrowest = 34},
               {findings.recordings.front().unit + "/s"},
               {.right = false, .importance = 1, .style = Style::dim},
               {"waited"},
               {.right = false, .importance = 2, .style = Style::dim}});
  table.add({"as recorded", human_rate(now.images_per_s()), "", human_percent(now.waited_percent()), ""});
  for (const auto& advice : diagnosis.advice) {
    if (advice.action == "none" || !advice.prediction) continue;
    const Prediction& then = *advice.prediction;
    table.add({advice.change, human_rate(then.achieved.images_per_s()),
               fmt::format("[{}, {}]", human_rate(then.images_per_s.low), human_rate(then.images_per_s.high)),
               human_percent(then.achieved.waited_percent()),
               fmt::format("[{}, {}]", human_percent(then.waited_percent.low),
                           human_percent(then.waited_percent.high))});
  }
  return table.text(terminal) + other_causes_text(diagnosis, terminal) + "  " +
         wrapped(note_of(diagnosis, findings.recordings.front().unit), terminal.width - 2, 2) + "\n";
}

}  // namespace lotus::analyzer
