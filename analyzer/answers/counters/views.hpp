// The three forms of what counters counted.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "answers/counters/findings.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer {

std::string counters_text(const CounterFindings& findings, const Terminal& terminal);

// Keys: lotus-json(5).
nlohmann::ordered_json counters_json(const CounterFindings& findings);

// A row for each operation and counter, or ratio; its operation is empty for fetches.
std::string counters_csv(const CounterFindings& findings);

}  // namespace lotus::analyzer
