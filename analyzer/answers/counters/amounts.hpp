// Amounts of counters as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "answers/stats/interval.hpp"

namespace lotus::analyzer {

// task-clock is a time in ns, all others are counts.
std::string amount_text(const std::string& counter, double value);
// "300–310"; "not known" without an interval.
std::string amount_bounds_text(const std::string& counter, const std::optional<Bounds>& bounds);
// [low, high], or null.
nlohmann::ordered_json bounds_json(const std::optional<Bounds>& bounds);

}  // namespace lotus::analyzer
