// What LOTUS_TRY changed, and what came of it, in the two forms of a report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "answers/report/findings.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer {

// Lines on top of the report; empty if nothing was tried.
std::string trial_text(const Findings& findings, const Terminal& terminal);
nlohmann::ordered_json trial_json(const Findings& findings);

}  // namespace lotus::analyzer
