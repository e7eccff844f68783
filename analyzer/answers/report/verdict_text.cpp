// The advices as a table.
#include <fmt/format.h>

#include "answers/report/sections.hpp"
#include "text/table.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {
std::string advice_text(const Findings& findings, const std::optional<Diagnosis>& diagnosis,
                        const Terminal& terminal) {
  if (!diagnosis) return {};
  const Achieved& now = findings.recordings.front().achieved;
  Table table({{.right = false, .flexible = true, .narrowest = 34},
               {"images/s"},
               {.right = false, .importance = 1, .style = Style::dim},
               {"waited"},
               {.right = false, .importance = 2, .style = Style::dim}});
  table.add({"as recorded", human_rate(now.images_per_s()), "", human_percent(now.waited_percent()), ""});
  for (const auto& advice : diagnosis->advice) {
    const Prediction& then = advice.prediction;
    if (advice.action == "none") continue;
    table.add({advice.change, human_rate(then.achieved.images_per_s()),
               fmt::format("[{}, {}]", human_rate(then.images_per_s.low), human_rate(then.images_per_s.high)),
               human_percent(then.achieved.waited_percent()),
               fmt::format("[{}, {}]", human_percent(then.waited_percent.low),
                           human_percent(then.waited_percent.high))});
  }
  const bool none = diagnosis->advice.front().action == "none";
  const std::string note = fmt::format(
      "{}The replay of the run as recorded is off by {:+.1f} % in images/s, {:+.1f} points in the share "
      "waited; try other changes with `lotus-analyze whatif`.",
      none ? "No change gains enough to be told. " : "", diagnosis->rate_error_percent,
      diagnosis->waited_error);
  return table.text(terminal) + "  " + wrapped(note, terminal.width - 2, 2) + "\n";
}

}  // namespace lotus::analyzer
