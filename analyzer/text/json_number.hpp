// JSON numbers that may be unknown.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace lotus::analyzer {

// null: not known, or not finite, which JSON cannot express.
inline nlohmann::ordered_json number_or_null(std::optional<double> value) {
  return value && std::isfinite(*value) ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

// The same for integers: a count, an index.
template <class Number>
nlohmann::ordered_json value_or_null(const std::optional<Number>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

// null: the whole is 0.
template <class Number>
nlohmann::ordered_json percent_or_null(Number part, Number whole) {
  if (!(whole > 0)) return nullptr;
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace lotus::analyzer
