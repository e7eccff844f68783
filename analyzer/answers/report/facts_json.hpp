// The facts of a report in its JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "answers/report/findings.hpp"

namespace lotus::analyzer {

void add_facts(nlohmann::ordered_json& report, const Findings& findings);

}  // namespace lotus::analyzer
