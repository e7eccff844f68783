// The facts of a report in its JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "answers/report/facts.hpp"

namespace lotus::analyzer {

void add_facts(nlohmann::ordered_json& report, const Facts& facts);

}  // namespace lotus::analyzer
