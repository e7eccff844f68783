#include <fmt/format.h>

#include "answers/counters/ratios.hpp"
#include "answers/report/sections.hpp"
#include "text/escape.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {

std::string lost_slots_text(const Findings& findings, const Terminal& terminal) {
  std::string text;
  for (const LostSlots& lost : lost_slots(findings.counters)) {
    std::string line =
        fmt::format("{}: its {} are lost to: ", escaped(lost.op.name), findings.counters.topdown->unit);
    for (std::size_t i = 0; i < lost.to.size(); ++i)
      line +=
          fmt::format("{}{} {} [{:.1f}, {:.1f}]", i > 0 ? ", " : "", lost.to[i].what,
                      human_percent(lost.to[i].percent), lost.to[i].interval.low, lost.to[i].interval.high);
    text += wrapped(line, terminal.width, 2) + "\n";
  }
  return text;
}

}  // namespace lotus::analyzer
