// Counters of two runs, as `diff` shows them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "answers/counters/comparison.hpp"
#include "text/terminal.hpp"

namespace lotus::analyzer {

// A table of what changed beyond chance, and what is not compared; empty if neither run counted anything.
std::string counter_changes_text(const CounterComparison& comparison, const Terminal& terminal);

// By name, of one operation or of fetches.
nlohmann::ordered_json counter_changes_json(const CounterComparison& comparison,
                                            const std::optional<std::string>& op);
// Fetches, and what is not compared; null if neither run counted anything.
nlohmann::ordered_json counter_comparison_json(const CounterComparison& comparison);

}  // namespace lotus::analyzer
