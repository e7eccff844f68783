// The three forms of what counters counted in functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "answers/counters/functions.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer {

std::string functions_text(const FunctionCounts& counts, const CounterFindings& findings,
                           const Terminal& terminal);

// Keys: lotus-json(5), `functions` of counters.
nlohmann::ordered_json functions_json(const FunctionCounts& counts, const CounterFindings& findings);

// A row for each function and counter, or ratio.
std::string functions_csv(const FunctionCounts& counts, const CounterFindings& findings);

}  // namespace lotus::analyzer
