// The three forms of a map.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "answers/stacks/function_map.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer {

// The listed functions: {"op_to_func": {op: ["function|library", …]}, "common_funcs_to_op":
// {"function|library": [op, …]}}; the latter has only functions of several operations. Operations of the same
// name are merged.
nlohmann::ordered_json map_json(const FunctionMap& map);

// The whole map as JSON; keys are documented in lotus-analyze(1).
nlohmann::ordered_json full_map_json(const FunctionMap& map);

// The map as text for people.
std::string map_text(const FunctionMap& map, const Terminal& terminal);

// Why there is nothing to show, in one sentence; empty if there are samples.
std::string why_no_samples(const SamplingFacts& facts);

}  // namespace lotus::analyzer
