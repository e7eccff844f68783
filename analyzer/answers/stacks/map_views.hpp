// A map's three faces.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "answers/stacks/function_map.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer {

// {"op_to_func": {op: ["function|library", …]}, "common_funcs_to_op": {"function|library": [op, …]}}: what is
// listed; the second holds the functions of several operations. Operations of one name are one.
nlohmann::ordered_json map_json(const FunctionMap& map);

// Everything; keys are documented in lotus-analyze(1).
nlohmann::ordered_json full_map_json(const FunctionMap& map);

// For a person.
std::string map_text(const FunctionMap& map, const Terminal& terminal);

// Why there is nothing to show, in one sentence; empty if there are samples.
std::string why_no_samples(const SamplingFacts& facts);

}  // namespace lotus::analyzer
