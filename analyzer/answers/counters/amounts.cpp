#include "answers/counters/amounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "text/json_number.hpp"
#include "text/units.hpp"

namespace lotus::analyzer {

std::string amount_text(const std::string& counter, double value) {
  if (counter == "task-clock") return human_time(value);
  if (value < 100) return fmt::format("{:.3g}", value);
  return human_count(static_cast<std::uint64_t>(std::llround(std::min(value, 9e18))));
}

std::string amount_bounds_text(const std::string& counter, const std::optional<Bounds>& bounds) {
  if (!bounds) return "not known";
  return amount_text(counter, bounds->low) + "–" + amount_text(counter, bounds->high);
}

nlohmann::ordered_json bounds_json(const std::optional<Bounds>& bounds) {
  if (!bounds) return nullptr;
  return nlohmann::ordered_json::array({number_or_null(bounds->low), number_or_null(bounds->high)});
}

}  // namespace lotus::analyzer
