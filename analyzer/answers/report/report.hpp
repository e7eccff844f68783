// The two forms of a report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "answers/report/findings.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer {

// The object that `report --json` prints; keys are documented in lotus-analyze(1).
nlohmann::ordered_json report_json(const Findings& findings);

// The report as text for people.
// Functions that took next to nothing are one line, if not `all` are asked for.
std::string report_text(const Findings& findings, const Terminal& terminal, bool all = false);

}  // namespace lotus::analyzer
